package plain

import (
	"bytes"
	"path"
	"strings"
)

// Languages have the names of GitHub's Linguist. Its port to Go, go-enry, would add 9 MB to the
// program, and chroma 4.5 MB. Both look at more than names and the first line, and are slower.

// languageOfMedia are the media types of source code.
var languageOfMedia = map[string]string{
	"text/javascript": "JavaScript", "application/javascript": "JavaScript", "application/x-javascript": "JavaScript", "application/ecmascript": "JavaScript",
	"application/typescript": "TypeScript", "text/css": "CSS", "text/x-python": "Python", "text/x-script.python": "Python", "application/x-python": "Python",
	"text/x-c": "C", "text/x-csrc": "C", "text/x-chdr": "C", "text/x-c++": "C++", "text/x-c++src": "C++", "text/x-c++hdr": "C++",
	"text/x-java": "Java", "text/x-java-source": "Java", "text/x-go": "Go", "text/x-rust": "Rust", "text/rust": "Rust",
	"text/x-sh": "Shell", "application/x-sh": "Shell", "application/x-shellscript": "Shell", "text/x-shellscript": "Shell",
	"text/x-perl": "Perl", "application/x-perl": "Perl", "text/x-php": "PHP", "application/x-php": "PHP", "application/x-httpd-php-source": "PHP",
	"text/x-ruby": "Ruby", "application/x-ruby": "Ruby", "text/x-lua": "Lua", "text/x-tcl": "Tcl", "application/x-tcl": "Tcl",
	"text/x-makefile": "Makefile", "text/x-diff": "Diff", "text/x-patch": "Diff", "text/x-haskell": "Haskell", "text/x-fortran": "Fortran",
	"text/x-pascal": "Pascal", "text/x-lisp": "Common Lisp", "text/x-sql": "SQL", "application/sql": "SQL", "text/x-tex": "TeX", "application/x-tex": "TeX",
	"text/x-asm": "Assembly", "text/x-csharp": "C#", "text/x-scala": "Scala", "text/x-kotlin": "Kotlin", "text/x-swift": "Swift",
	"application/yaml": "YAML", "application/x-yaml": "YAML", "text/yaml": "YAML", "text/x-yaml": "YAML", "application/toml": "TOML",
	"application/graphql": "GraphQL",
}

// languageOfSuffix are the ends of names of source files. It does not have ends that several
// languages share evenly, or that often mean something else.
var languageOfSuffix = map[string]string{
	".go": "Go", ".py": "Python", ".pyi": "Python", ".pyw": "Python", ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".cxx": "C++",
	".hh": "C++", ".hpp": "C++", ".hxx": "C++", ".java": "Java", ".js": "JavaScript", ".mjs": "JavaScript", ".cjs": "JavaScript", ".jsx": "JavaScript",
	".ts": "TypeScript", ".tsx": "TSX", ".rs": "Rust", ".rb": "Ruby", ".pl": "Perl", ".pm": "Perl", ".php": "PHP", ".sh": "Shell", ".bash": "Shell",
	".zsh": "Shell", ".fish": "fish", ".ps1": "PowerShell", ".bat": "Batchfile", ".cs": "C#", ".fs": "F#", ".vb": "Visual Basic .NET",
	".swift": "Swift", ".kt": "Kotlin", ".kts": "Kotlin", ".scala": "Scala", ".clj": "Clojure", ".cljs": "Clojure", ".ex": "Elixir", ".exs": "Elixir",
	".erl": "Erlang", ".hrl": "Erlang", ".hs": "Haskell", ".lhs": "Literate Haskell", ".ml": "OCaml", ".mli": "OCaml", ".lisp": "Common Lisp",
	".el": "Emacs Lisp", ".scm": "Scheme", ".rkt": "Racket", ".lua": "Lua", ".tcl": "Tcl", ".r": "R", ".jl": "Julia", ".dart": "Dart", ".zig": "Zig",
	".nim": "Nim", ".d": "D", ".pas": "Pascal", ".adb": "Ada", ".ads": "Ada", ".f": "Fortran", ".f90": "Fortran Free Form", ".f95": "Fortran Free Form",
	".cob": "COBOL", ".asm": "Assembly", ".s": "Assembly", ".sql": "SQL", ".css": "CSS", ".scss": "SCSS", ".sass": "Sass", ".less": "Less",
	".yaml": "YAML", ".yml": "YAML", ".toml": "TOML", ".ini": "INI", ".tex": "TeX", ".sty": "TeX", ".diff": "Diff", ".patch": "Diff",
	".proto": "Protocol Buffer", ".thrift": "Thrift", ".graphql": "GraphQL", ".cmake": "CMake", ".mk": "Makefile", ".gradle": "Gradle",
	".groovy": "Groovy", ".vim": "Vim Script", ".awk": "Awk", ".sed": "sed", ".m4": "M4", ".v": "Verilog", ".sv": "SystemVerilog", ".vhd": "VHDL",
	".nix": "Nix", ".tf": "HCL", ".vue": "Vue", ".svelte": "Svelte", ".sol": "Solidity", ".wat": "WebAssembly", ".cu": "Cuda", ".coffee": "CoffeeScript",
}

// languageOfFile are names of files, in lower case, whose end does not tell the language.
var languageOfFile = map[string]string{
	"makefile": "Makefile", "gnumakefile": "Makefile", "dockerfile": "Dockerfile", "cmakelists.txt": "CMake", "rakefile": "Ruby", "gemfile": "Ruby",
	"vagrantfile": "Ruby", "jenkinsfile": "Groovy", "sconstruct": "Python", "go.mod": "Go Module", "go.sum": "Go Checksums", "meson.build": "Meson",
	"build.bazel": "Starlark", "pkgbuild": "Shell", ".bashrc": "Shell", ".profile": "Shell", ".vimrc": "Vim Script",
}

// languageOfProgram are the programs that a first line "#!" names.
var languageOfProgram = map[string]string{
	"sh": "Shell", "bash": "Shell", "dash": "Shell", "zsh": "Shell", "ksh": "Shell", "fish": "fish", "python": "Python", "perl": "Perl", "ruby": "Ruby",
	"node": "JavaScript", "deno": "TypeScript", "php": "PHP", "lua": "Lua", "tclsh": "Tcl", "wish": "Tcl", "rscript": "R", "awk": "Awk", "gawk": "Awk",
	"sed": "sed", "make": "Makefile", "guile": "Scheme", "runhaskell": "Haskell", "escript": "Erlang", "elixir": "Elixir", "pwsh": "PowerShell", "groovy": "Groovy",
}

// languageOfName is the language of a file by its name, or else by the program that its first
// line names; empty: it is not known to be code.
func languageOfName(name string, body []byte) string {
	if l := languageOfFile[name]; l != "" {
		return l
	}
	if l := languageOfSuffix[path.Ext(name)]; l != "" {
		return l
	}
	return languageOfFirstLine(body)
}

// languageOfFirstLine reads "#!/usr/bin/env -S python3.12 -u".
func languageOfFirstLine(body []byte) string {
	if !bytes.HasPrefix(body, []byte("#!")) {
		return ""
	}
	line, _, _ := bytes.Cut(body[:min(len(body), 256)], []byte("\n"))
	for _, word := range strings.Fields(string(line[2:])) {
		program := path.Base(word)
		if program == "env" || strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
			continue
		}
		return languageOfProgram[strings.ToLower(strings.TrimRight(program, "0123456789."))]
	}
	return ""
}
