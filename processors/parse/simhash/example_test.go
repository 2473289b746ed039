package simhash_test

import (
	"fmt"

	"github.com/weftcrawl/weft/processors/parse/simhash"
)

// Two copies of a page that differ in a date are nearly the same.
func ExampleFingerprint_Distance() {
	const story = `The weft is the thread that goes over and under the warp.
On a loom the warp is held in tension while the weft is drawn through and beaten down with the reed.
Published on %s by the museum of looms, which shows how cloth was made for three thousand years.`
	first, words := simhash.Of(fmt.Sprintf(story, "2026-11-22"))
	second, _ := simhash.Of(fmt.Sprintf(story, "2026-11-23"))
	other, _ := simhash.Of("A page of another site that has nothing in common with the story about looms and their threads at all.")

	distance, alike := first.Distance(second)
	fmt.Println(words > simhash.MinWords, distance, alike)
	_, alike = first.Distance(other)
	fmt.Println(alike)
	// Output:
	// true 1 true
	// false
}
