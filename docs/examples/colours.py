"""From RGB to luma and chroma (BT.601): three results of one kernel, from views of the channels, rounded to bytes."""

import xpops as xp


def _byte(x):
    return xp.astype(xp.clip(xp.round(x), 0, 255), xp.uint8)


@xp.fuse
def to_ycbcr(red, green, blue):
    r, g, b = (xp.astype(each, xp.float32) for each in (red, green, blue))
    y = 0.299 * r + 0.587 * g + 0.114 * b
    return _byte(y), _byte((b - y) / 1.772 + 128), _byte((r - y) / 1.402 + 128)


if __name__ == "__main__":
    image = xp.asarray([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [255, 255, 255]]], dtype=xp.uint8)
    for name, channel in zip(("Y", "Cb", "Cr"), to_ycbcr(*(image[..., i] for i in range(3))), strict=True):
        print(name, channel.tolist())
