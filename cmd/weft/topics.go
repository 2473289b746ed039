package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/inspect/progress"
	"github.com/weftcrawl/weft/internal/settings"
	"github.com/weftcrawl/weft/topics"
)

type topicsCmd struct {
	Show   topicsShowCmd   `cmd:"" default:"withargs" help:"Show the topics of the loop with partitions, offsets and lag."`
	Create topicsCreateCmd `cmd:"" help:"Create the topics that do not exist, and define the crawl."`
	ACLs   topicsACLsCmd   `cmd:"" name:"acls" help:"Print commands for Kafka that give each stage, and each kind of user, the rights that it needs."`
}

type topicsShowCmd struct {
	reachFlags
}

func (c *topicsShowCmd) Run(ctx context.Context, std streams) error {
	open, err := c.open(ctx, std, crawl.ToRead, topics.Loop(c.Crawl).Config)
	if err != nil {
		return err
	}
	defer open.close()
	topicNames := []string{}
	for _, topic := range open.names.Topics() {
		topicNames = append(topicNames, topic.Name)
	}
	starts, err := open.admin.ListStartOffsets(ctx, topicNames...)
	if err != nil {
		return fmt.Errorf("log starts of %s: %w", c.Crawl, err)
	}
	ends, err := open.admin.ListEndOffsets(ctx, topicNames...)
	if err != nil {
		return fmt.Errorf("log ends of %s: %w", c.Crawl, err)
	}
	readers, err := open.readers(ctx, starts, ends)
	if err != nil {
		return err
	}
	table := progress.NewTable(std.out)
	table.Row("TOPIC", "PARTITIONS", "START", "END", "READERS (LAG)")
	for _, topic := range topicNames {
		partitions, from, to := 0, int64(0), int64(0)
		for partition, end := range ends[topic] {
			if start, ok := starts.Lookup(topic, partition); ok && end.Err == nil {
				partitions, from, to = partitions+1, from+start.Offset, to+end.Offset
			}
		}
		if partitions == 0 {
			table.Row(topic, "missing", "", "", "")
			continue
		}
		table.Row(topic, partitions, progress.Count(from), progress.Count(to), strings.Join(readers[topic], ", "))
	}
	return table.Flush()
}

// readers says, by topic, which stages read it: "stage (lag)".
func (c *openCrawl) readers(ctx context.Context, starts, ends kadm.ListedOffsets) (map[string][]string, error) {
	readers := map[string][]string{}
	for _, stage := range topics.Groups() {
		commits, err := c.admin.FetchOffsets(ctx, c.names.Group(stage))
		if err != nil && !errors.Is(err, kerr.GroupIDNotFound) { // not found: it has read nothing yet
			return nil, fmt.Errorf("commits of %s: %w", c.names.Group(stage), err)
		}
		if topics.KindOf(stage) == topics.Archiver && len(commits) == 0 {
			continue // this crawl has no archive, or has not written a file
		}
		for _, topic := range c.names.Inputs(stage) {
			behind := int64(0)
			for partition, end := range ends[topic] {
				start, _ := starts.Lookup(topic, partition)
				next := start.Offset
				if commit, ok := commits.Lookup(topic, partition); ok {
					next = max(next, commit.At)
				}
				behind += max(end.Offset-next, 0) // the end is older than the commit
			}
			readers[topic] = append(readers[topic], fmt.Sprintf("%s (%s)", stage, progress.Count(behind)))
		}
	}
	return readers, nil
}

type topicsCreateCmd struct {
	clusterFlags
	definitionFlags
	Replication int16 `placeholder:"N" default:"-1" help:"Copies of each partition; -1: the default of the brokers."`
	Alter       bool  `help:"Give existing topics the configuration of new topics."`
}

func (c *topicsCreateCmd) Run(ctx context.Context, std streams) error {
	if err := errors.Join(c.checkRemote(), c.definitionFlags.check()); err != nil {
		return err
	}
	admin, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer admin.Close()
	definition, err := c.definition(ctx)
	if err != nil {
		return err
	}
	spec := topics.Spec{Crawl: c.Crawl, Partitions: definition.Partitions, Replication: c.Replication}
	if err := errors.Join(spec.Validate(), settings.CheckDefinition(definition)); err != nil {
		return usageError{err}
	}
	if c.Bodies != nil {
		if _, err := crawl.OpenStore(ctx, "large bodies", definition.Bodies); err != nil {
			return err
		}
	}
	if c.Archive != nil && definition.Archive != "" {
		if _, err := crawl.OpenStore(ctx, "archive files", definition.Archive); err != nil {
			return err
		}
	}
	created, err := topics.Create(ctx, admin, spec)
	if err != nil {
		return err
	}
	for _, name := range created.Topics {
		fmt.Fprintf(std.out, "created %s\n", name)
	}
	if err := c.settle(ctx, admin, created.Differences, std.out); err != nil {
		return err
	}
	if err := topics.Check(ctx, admin, topics.Loop(c.Crawl), definition.Partitions); err != nil {
		return err
	}
	if err := topics.WriteDefinition(ctx, definition, c.client()...); err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.out, "crawl %s has %d partitions\n", c.Crawl, definition.Partitions)
	return err
}

// settle prints the settings that differ from the design, and alters them with --alter.
func (c *topicsCreateCmd) settle(ctx context.Context, admin *kadm.Client, differs []topics.Difference, out io.Writer) error {
	left := differs
	if c.Alter {
		var err error
		if left, err = topics.Alter(ctx, admin, differs); err != nil {
			return err
		}
	}
	for _, d := range differs {
		done := "altered"
		if slices.Contains(left, d) {
			done = "left alone"
		}
		fmt.Fprintf(out, "%s: %s\n", done, d)
	}
	return nil
}

// definition is the crawl's definition in force, or a new one, changed by the flags
// that are given.
func (c *topicsCreateCmd) definition(ctx context.Context) (topics.Definition, error) {
	have, err := topics.ReadDefinition(ctx, topics.Loop(c.Crawl), c.client()...)
	if errors.Is(err, topics.ErrUndefined) {
		have = newDefinition(c.Crawl)
		have.Partitions = crawl.DefaultPartitions
		return c.over(have), nil
	}
	if err != nil {
		return topics.Definition{}, err
	}
	want := c.over(have)
	return want.After(have, time.Now()), have.Agrees(want)
}

type topicsACLsCmd struct {
	Roles           []string `arg:"" optional:"" name:"role" help:"Only these roles. Without roles the command prints all of them, with their names."`
	Crawl           string   `placeholder:"NAME" default:"weft" help:"Name of the crawl, the prefix of its topics and groups."`
	PrincipalPrefix string   `placeholder:"TEXT" default:"User:weft-" help:"Prefix of the principals of all roles."`
}

func (c *topicsACLsCmd) Run(std streams) error {
	if err := topics.CheckCrawl(c.Crawl); err != nil {
		return usageError{err}
	}
	if strings.ContainsAny(c.PrincipalPrefix, "'\n") || !strings.Contains(c.PrincipalPrefix, ":") {
		return usagef("--principal-prefix %q is not the beginning of a principal such as User:weft-", c.PrincipalPrefix)
	}
	roles, err := c.roles()
	if err != nil {
		return err
	}
	for i, role := range roles {
		if i > 0 {
			fmt.Fprintln(std.out)
		}
		if err := writeACLs(std.out, c.PrincipalPrefix+role.Name, role); err != nil {
			return fmt.Errorf("write commands: %w", err)
		}
	}
	return nil
}

// roles are the roles of the arguments, or all.
func (c *topicsACLsCmd) roles() ([]topics.Role, error) {
	all := topics.Loop(c.Crawl).Roles()
	if len(c.Roles) == 0 {
		return all, nil
	}
	var known []string
	for _, role := range all {
		known = append(known, role.Name)
	}
	for _, name := range c.Roles {
		if !slices.Contains(known, name) {
			return nil, usagef("%q is not a role: %s", name, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(all, func(r topics.Role) bool { return !slices.Contains(c.Roles, r.Name) }), nil
}

// writeACLs prints the commands that grant a role to a principal: one for each
// operation, with all its resources.
func writeACLs(to io.Writer, principal string, role topics.Role) error {
	type grant struct {
		topics.Operation
		topics.Resource
		prefixed bool
	}
	var order []grant
	names := map[grant]string{}
	for _, g := range role.Grants {
		one := grant{g.Operation, g.On, g.Prefixed}
		if names[one] == "" {
			order = append(order, one)
		}
		names[one] += fmt.Sprintf(" --%s %s", g.On, g.Name)
	}
	text := fmt.Sprintf("# %s: %s\n", role.Name, role.Does)
	for _, one := range order {
		pattern := ""
		if one.prefixed {
			pattern = " --resource-pattern-type prefixed"
		}
		text += fmt.Sprintf("kafka-acls.sh --bootstrap-server \"$BROKERS\" --command-config \"$ADMIN\" --add --allow-principal '%s' --operation %s%s%s\n",
			principal, one.Operation, pattern, names[one])
	}
	_, err := io.WriteString(to, text)
	return err
}
