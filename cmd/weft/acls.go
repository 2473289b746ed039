package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/topics"
)

type topicsACLsCmd struct {
	Roles           []string `arg:"" optional:"" name:"role" help:"Only these roles; their names are in what is printed."`
	Crawl           string   `placeholder:"NAME" default:"weft" help:"Name of the crawl, the prefix of its topics and groups."`
	PrincipalPrefix string   `placeholder:"TEXT" default:"User:weft-" help:"What the principals of all roles begin with."`
}

// Run is called by kong.
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

// roles are those asked for, or all.
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

// writeACLs prints the commands that grant a role to a principal, one for all
// that the same operation is granted on.
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
