package fetch

import "strings"

// Documents is the default of Options.WantBody: it refuses media types that
// carry neither text nor links, and accepts everything that might, among it
// PDF, feeds, gzip (sitemaps come so), octet streams and no type at all.
func Documents(mediaType string) bool {
	kind, sub, _ := strings.Cut(mediaType, "/")
	switch kind {
	case "audio", "video", "image", "font", "model":
		return false
	case "application":
		return !refusedApplications[sub]
	}
	return true
}

// Archives, programs, disk images and media under application/, with the
// names that servers use rather than those that IANA lists.
var refusedApplications = map[string]bool{
	"epub+zip":                          true,
	"java-archive":                      true,
	"mp4":                               true,
	"ogg":                               true,
	"vnd.android.package-archive":       true,
	"vnd.debian.binary-package":         true,
	"vnd.microsoft.portable-executable": true,
	"vnd.ms-cab-compressed":             true,
	"vnd.ms-fontobject":                 true,
	"vnd.rar":                           true,
	"vnd.rn-realmedia":                  true,
	"wasm":                              true,
	"x-7z-compressed":                   true,
	"x-apple-diskimage":                 true,
	"x-bittorrent":                      true,
	"x-bzip2":                           true,
	"x-compressed-tar":                  true,
	"x-debian-package":                  true,
	"x-dosexec":                         true,
	"x-executable":                      true,
	"x-font-ttf":                        true,
	"x-font-woff":                       true,
	"x-iso9660-image":                   true,
	"x-java-archive":                    true,
	"x-mpegurl":                         true,
	"x-msdownload":                      true,
	"x-msi":                             true,
	"x-rar":                             true,
	"x-rar-compressed":                  true,
	"x-redhat-package-manager":          true,
	"x-rpm":                             true,
	"x-shockwave-flash":                 true,
	"x-tar":                             true,
	"x-xz":                              true,
	"x-zip-compressed":                  true,
	"zip":                               true,
	"zstd":                              true,
	"vnd.adobe.flash.movie":             true,
}
