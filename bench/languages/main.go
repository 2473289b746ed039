// Command languages makes the tables of package language, and measures what they tell, on
// translated documentation of Debian. corpus.sh gets the packages:
//
//	bench/languages/corpus.sh FOLDER
//	go run ./bench/languages train FOLDER processors/parse/language/tables.gz
//	go run ./bench/languages measure FOLDER
//	go run ./bench/languages charsets FOLDER
//	go run ./bench/languages sample FOLDER >processors/parse/language/testdata/texts.txt
package main

import (
	"fmt"
	"os"
)

func main() {
	var err error
	switch {
	case len(os.Args) == 4 && os.Args[1] == "train":
		err = train(os.Args[2], os.Args[3])
	case len(os.Args) == 3 && os.Args[1] == "measure":
		err = measure(os.Args[2], os.Getenv("VERBOSE") != "")
	case len(os.Args) == 3 && os.Args[1] == "sample":
		err = sample(os.Args[2])
	case len(os.Args) == 3 && os.Args[1] == "charsets":
		err = charsets(os.Args[2])
	default:
		fmt.Fprintln(os.Stderr, "usage: languages train FOLDER FILE | measure FOLDER | charsets FOLDER | sample FOLDER")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "languages:", err)
		os.Exit(1)
	}
}
