"""A cube of temperatures, labelled by xarray, in blocks of xpops by Dask: anomalies of months, weighted by area."""

import dask
import dask.array as da
import numpy as np
import xarray as xr

import xpops as xp
import xpops.dask  # Dask learns about arrays of xpops

YEARS, LATITUDES, LONGITUDES = 4, 12, 24


def cube():
    """Monthly temperatures: warmer near the equator and in summer, and warmer every year."""
    months = np.arange(12 * YEARS)
    latitude = np.linspace(-82.5, 82.5, LATITUDES)
    season = np.cos(2 * np.pi * (months - 6) / 12)[:, None] * np.sin(np.deg2rad(latitude))
    values = 30 * np.cos(np.deg2rad(latitude)) - 12 * season + 0.02 * months[:, None]
    blocks = da.from_array(np.repeat(values[..., None], LONGITUDES, 2), chunks=(12, 6, 24)).to_backend("xpops")
    time = np.datetime64("2020-01", "M") + months
    labels = {"time": time.astype("datetime64[ns]"), "latitude": latitude}
    return xr.DataArray(blocks, dims=("time", "latitude", "longitude"), coords=labels, name="temperature")


def yearly_anomalies(temperature):
    """The mean of each year, less the mean of its months over all years; cells count by their area."""
    months = temperature.groupby("time.month")
    anomalies = months - months.mean("time")
    area = xp.asarray(np.cos(np.deg2rad(temperature.latitude.values)))
    weights = xr.DataArray(area, dims="latitude").chunk()  # Dask arrays compute with Dask arrays
    return anomalies.weighted(weights).mean(("latitude", "longitude")).groupby("time.year").mean()


if __name__ == "__main__":
    with dask.config.set(scheduler="threads"):
        found = yearly_anomalies(cube()).compute()
    for year, anomaly in zip(found.year.values, found.data.tolist(), strict=True):
        print(f"{year} {anomaly:+.6f}")
