package check

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

const composeFile = "docker-compose.yml"

// LoadCompose reads docker-compose.yml as docker compose does: schema, merges,
// interpolation with nothing in the environment, and consistency, all profiles on.
func LoadCompose(files fs.FS) (*types.Project, error) {
	text, err := fs.ReadFile(files, composeFile)
	if err != nil {
		return nil, err
	}
	if found := regexp.MustCompile(`\$\{[A-Z_]+\}`).Find(text); found != nil {
		return nil, fmt.Errorf("%s: %s has no default", composeFile, found)
	}
	return loader.LoadWithContext(context.Background(), types.ConfigDetails{
		WorkingDir:  "/repository",
		ConfigFiles: []types.ConfigFile{{Filename: "/repository/" + composeFile, Content: text}},
		Environment: types.Mapping{},
	}, func(o *loader.Options) {
		o.SetProjectName("weft", true)
		o.Profiles = []string{"*"}
	})
}

// Stages of the loop. Each is a service, a workload and a unit.
var Stages = []string{"normalize", "dedupe", "schedule", "fetch", "parse"}

// Archive is a stage of crawls with an archive: a service of its own profile, and a component for overlays.
const Archive = "archive"

// Compose says what is wrong with docker-compose.yml.
func Compose(files fs.FS) error {
	project, err := LoadCompose(files)
	if err != nil {
		return err
	}
	flags, err := Flags(files)
	if err != nil {
		return err
	}
	var p problems
	for _, stage := range append(Stages, Archive) {
		if s, ok := project.Services[stage]; !ok || strings.Join(s.Command, " ") != "run "+stage {
			p.addf("no service runs the stage %s", stage)
		}
	}
	for name, service := range project.Services {
		p.pinned("service "+name, service.Image)
		p.mounts(files, project, service)
		if service.Build != nil {
			p.variables("service "+name, flags, keys(service.Environment))
			if !service.ReadOnly || len(service.CapDrop) == 0 {
				p.addf("service %s may do more than it needs", name)
			}
		}
		if long := len(service.Profiles) == 0 && service.Restart != "on-failure"; long &&
			(service.Restart != "unless-stopped" || service.Deploy == nil || service.Deploy.Resources.Limits == nil) {
			p.addf("service %s has no restart policy or no limits", name)
		}
	}
	for _, name := range []string{Archive, "weft"} {
		p.temporary(project.Services[name])
	}
	return p.joined()
}

// temporary files are made by erasures (--keep) and by weft why and weft verify. They need a volume, because
// the root file system of a container cannot be written to.
func (p *problems) temporary(service types.ServiceConfig) {
	dir := service.Environment["TMPDIR"]
	if dir == nil || !slices.ContainsFunc(service.Volumes, func(v types.ServiceVolumeConfig) bool { return v.Target == *dir }) {
		p.addf("service %s has no place for temporary files", service.Name)
	}
}

// mounts are of files that exist and volumes that are declared. A service that
// may be scaled shares no named volume, since states belong to one process.
func (p *problems) mounts(files fs.FS, project *types.Project, service types.ServiceConfig) {
	for _, mount := range service.Volumes {
		switch mount.Type {
		case types.VolumeTypeBind:
			source := strings.TrimPrefix(path.Clean(mount.Source), "/repository/")
			if _, err := fs.Stat(files, source); err != nil {
				p.addf("service %s mounts %s, which is not there", service.Name, source)
			}
		case types.VolumeTypeVolume:
			if _, ok := project.Volumes[mount.Source]; mount.Source != "" && !ok {
				p.addf("service %s mounts the volume %s, which is not declared", service.Name, mount.Source)
			}
			if mount.Source != "" && service.Build != nil {
				p.addf("containers of service %s share the volume %s", service.Name, mount.Source)
			}
		}
	}
}

func TestCompose(t *testing.T) {
	const file = "docker-compose.yml"
	holds(t, Compose, []mistake{
		{"unknown key", file, "  read_only: true\n", "  readonly: true\n", "readonly"},
		{"unknown variable", file, "WEFT_METRICS: 0.0.0.0", "WEFT_METRIC: 0.0.0.0", "weft has no flag --metric"},
		{"no default", file, "${WEFT_TAG:-dev}", "${WEFT_TAG}", "has no default"},
		{"unpinned", file, "grafana/grafana:12.1.0", "grafana/grafana", "not pinned"},
		{"latest", file, "apache/kafka:4.1.0", "apache/kafka:latest", "not pinned"},
		{"no such service", file, "depends_on: [prometheus]", "depends_on: [prometeus]", "prometeus"},
		{"no such file", file, "./deploy/prometheus/alerts.yml", "./deploy/prometheus/alert.yml", "not there"},
		{"no such volume", file, "prometheus:/prometheus", "tsdb:/prometheus", "tsdb"},
		{"shared states", file, "volumes: [/var/lib/weft]", "volumes: [\"kafka:/var/lib/weft\"]", "share the volume"},
		{"no temporary files", file, "TMPDIR: /var/lib/weft # for", "TMPDIR: /tmp # for", "service archive has no place for temporary files"},
		{"no volume for temporary files", file, "volumes: [/var/lib/weft] # goes", "volumes: [/data] # goes", "service weft has no place for temporary files"},
		{"a stage is missing", file, "command: [run, dedupe]", "command: [run, schedule]", "the stage dedupe"},
	})
}
