
// BenchmarkRead reads a JPEG of a million pixels.
func BenchmarkRead(b *testing.B) {
	var large bytes.Buffer
	if err := stdjpeg.Encode(&large, stdimage.NewYCbCr(stdimage.Rect(0, 0, 1000, 1000), stdimage.YCbCrSubsampleRatio420), nil); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		Read(large.Bytes(), false, DefaultOptions())
	}
}
