"""Makes the files beside it: what pandas, polars, SciPy and NumPy write, in small.

All hold the same panel: rows anna, bert, carl, columns of 2024-02-28 to 2024-03-01, the values below,
of which that of carl on 2024-02-29 is missing. Needs numpy, pandas, polars, pyarrow and scipy; run it
in this folder.
"""

import datetime
import pathlib
import shutil

import numpy
import pandas
import polars
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import scipy.io
import scipy.sparse

NAMES = ["anna", "bert", "carl"]
DAYS = [datetime.date(2024, 2, 28), datetime.date(2024, 2, 29), datetime.date(2024, 3, 1)]
VALUES = numpy.array([[1.5, 2.0, -3.25], [4.0, 5.5, 6.0], [7.0, numpy.nan, 9.0]])

rows = [name for name in NAMES for _ in DAYS]
days = [day for _ in NAMES for day in DAYS]
values = VALUES.ravel()

# An index with a name, a categorical, a date, a column of no use.
frame = pandas.DataFrame(
    {
        "value": values,
        "note": ["x"] * 9,
        "day": days,
        "row": pandas.Categorical(rows),
    },
    index=pandas.Index(range(100, 109), name="line"),
)
frame.to_parquet("pandas.parquet")
frame.reset_index(drop=True).to_feather("pandas.feather")

# A wide frame whose index names the rows; columns are whole numbers with nulls.
wide = pandas.DataFrame(VALUES, index=NAMES, columns=[str(day) for day in DAYS])
wide.to_parquet("pandas_wide.parquet", compression="gzip")

# Large strings, zstd, decimals, a moment of the world's clock, several groups of rows.
table = polars.DataFrame(
    {
        "row": rows,
        "day": [datetime.datetime(d.year, d.month, d.day, 12, tzinfo=datetime.UTC) for d in days],
        "value": [None if numpy.isnan(v) else v for v in values],
    }
).with_columns(polars.col("value").cast(polars.Decimal(10, 2)))
table.write_parquet("polars.parquet", compression="zstd", row_group_size=4)
table.write_ipc("polars.arrow", compression="lz4")
table.write_ipc_stream("polars_stream.arrow", compression="zstd")

# As Spark writes: a folder of parts; whole numbers for rows, text for columns.
folder = pathlib.Path("spark.parquet")
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir()
for part, (start, end) in enumerate([(0, 4), (4, 9)]):
    piece = pyarrow.table(
        {
            "user": pyarrow.array([NAMES.index(name) for name in rows[start:end]], pyarrow.int64()),
            "item": pyarrow.array([str(day) for day in days[start:end]]),
            "rating": pyarrow.array(values[start:end], pyarrow.float32(), from_pandas=True),
        }
    )
    name = f"part-0000{part}-5f1c-c000.snappy.parquet"
    pyarrow.parquet.write_table(piece, folder / name)
(folder / "_SUCCESS").touch()
(folder / ".part-00000-5f1c-c000.snappy.parquet.crc").write_bytes(b"crc")

# Sparse and dense matrices; carl's missing value is not stored, or NaN.
known = ~numpy.isnan(VALUES)
sparse = scipy.sparse.coo_matrix((VALUES[known], numpy.nonzero(known)), VALUES.shape)
for name in ["coo", "csr", "csc", "bsr", "dia"]:
    scipy.sparse.save_npz(f"{name}.npz", sparse.asformat(name), compressed=name != "csc")
scipy.sparse.save_npz("coo_array.npz", scipy.sparse.coo_array(sparse))
scipy.io.mmwrite("sparse.mtx", sparse)
numpy.save("dense.npy", VALUES)
numpy.save("fortran.npy", numpy.asfortranarray(VALUES.astype(">f4")))
numpy.savez_compressed("dense.npz", VALUES)
