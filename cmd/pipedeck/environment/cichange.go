// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/ci"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/env"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/text"
)

// changeFlags say which change ci deploys, and what it does for stages that wait.
type changeFlags struct {
	from          string
	changed       bool
	approve, wait string
	actions       ci.Actions
}

func (c *changeFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&c.from, "from", "",
		"deploy this commit first, then HEAD as a change of it: a branch, tag or hash, such as origin/main")
	flags.BoolVar(&c.changed, "changed", false, "with --from: deploy only the applications that the change touches")
	flags.StringVar(&c.approve, "approve", "never",
		"stages that wait for an approval: auto (approve as each approver until there are enough), as:NAME (approve "+
			"as that one user), never")
	flags.StringVar(&c.wait, "wait", "full", "stages WAIT: full, or fast (end them at once)")
}

// check finds wrong usage.
func (c *changeFlags) check(cmd *cobra.Command) (err error) {
	if cmd.Flags().Changed("from") && c.from == "" {
		return exit.Usage(errors.New("--from is empty"),
			"give a branch, a tag or a hash, for example --from origin/main")
	}
	if c.changed && c.from == "" {
		return exit.Usage(errors.New("--changed needs the commit to compare with"),
			"add --from, for example --from origin/main")
	}
	c.actions, err = ci.ParseActions(c.approve, c.wait)
	return err
}

// following is what an environment watches in place of what is checked out.
type following struct {
	// first is the repository at the first of the commits.
	first   *workspace.Repository
	commits <-chan string
	// selects reports by its configuration file whether an application is registered.
	selects func(configFile string) bool
}

// apply makes the environment watch it; nil leaves what is checked out.
func (f *following) apply(o *env.Options) {
	if f == nil {
		return
	}
	o.Repository = func() (*workspace.Repository, error) { return f.first, nil }
	o.Commits, o.Selects = f.commits, watched(f.selects)
}

// warn prints a line on standard error.
func (s *Setup) warn(words string) {
	fmt.Fprintln(s.Err, s.Mode.line(time.Now(), text.Clean(s.quote(words))))
}

// quote is that of the results, if there are any.
func (s *Setup) quote(words string) string {
	if s.results == nil {
		return words
	}
	return s.results.actions.quote(words)
}

// say prints lines between the events; on standard error where events are JSON.
func (s *Setup) say(words string) {
	out := s.Out
	if s.Mode == outputJSON {
		out = s.Err
	}
	for part := range strings.SplitSeq(s.quote(words), "\n") {
		fmt.Fprintln(out, s.Mode.line(time.Now(), text.Clean(part)))
	}
}

// switched shows that HEAD follows the base.
func (s *Setup) switched(base, head string) {
	if s.Mode == outputJSON {
		_ = reader.Switch(s.Out, base, head) // the next event fails, too, and is reported
		return
	}
	s.say(fmt.Sprintf("base %s is deployed; now HEAD %s", line.Commit(base), line.Commit(head)))
}
