"""Makes the images beside this file: pip install pillow==13.0.0 pillow-heif==1.8.1."""
import pathlib

import pillow_heif
from PIL import Image, ImageDraw

pillow_heif.register_heif_opener()
here = pathlib.Path(__file__).parent

picture = Image.new("RGB", (96, 64), "navy")
draw = ImageDraw.Draw(picture)
draw.ellipse((10, 8, 60, 56), fill="orange")
draw.rectangle((56, 20, 90, 60), fill="white")
draw.line((0, 63, 95, 0), fill="green", width=3)

exif = Image.Exif()
exif[0x010E] = "A circle and a\n square"
exif[0x010F], exif[0x0110] = "Maker", "Maker M1"
exif[0x0112] = 6
exif[0x013B], exif[0x8298] = "Ann Author", "2024 Ann"
exif.get_ifd(0x8769).update({0x9003: "2024:05:06 07:08:09", 0x9011: "+02:00"})
exif.get_ifd(0x8825).update({1: "S", 2: (33.0, 51.0, 36.0), 3: "E", 4: (151.0, 12.0, 0.0)})

for name in "jpeg", "png", "webp", "tiff", "avif", "heif":
    # What was decoded with EXIF of an older format keeps its tags; a copy has none.
    picture.copy().save(here / f"picture.{name}", exif=exif)
picture.save(here / "picture.gif")
picture.save(here / "picture.bmp")
picture.save(here / "picture.ico", sizes=[(16, 16), (32, 32), (64, 43)])
picture.resize((300, 200)).save(here / "larger.jpeg", quality=60)
picture.transpose(Image.Transpose.ROTATE_180).save(here / "other.png")
picture.save(here / "progressive.jpeg", progressive=True)
red, blue = Image.new("RGB", (48, 32), "red"), Image.new("RGB", (48, 32), "blue")
red.save(here / "animated.webp", save_all=True, append_images=[blue], duration=100)
