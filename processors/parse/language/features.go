package language

// Features gives the features of the words of a line to take, with the code of their script.
// bench/languages counts them.
func Features(line string, take func(script, feature string)) {
	r := reader{table: letters()}
	var counts [scripts]int
	r.words(line, len(line), &counts, func(w *word) {
		code := scriptFacts[w.script].code
		grams(w, func(from, to int) {
			runes := make([]rune, 0, 4)
			for _, c := range w.letters[from:to] {
				runes = append(runes, rune(c))
			}
			take(code, string(runes))
		})
	})
}

// grams gives the places of the features of a word, which are those of table.add.
func grams(w *word, take func(from, to int)) {
	for i := range w.n {
		switch w.script {
		case han:
			if i > 0 && i < w.n-1 {
				take(i, i+1)
			}
		default:
			if i >= 2 {
				take(i-2, i+1)
			}
			if i >= 3 {
				take(i-3, i+1)
			}
		}
	}
}
