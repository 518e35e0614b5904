// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/embedded"
	"github.com/pipedeck/pipedeck/devenv/doctor"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/document"
)

func newDoctorCommand(t *session.Target) *cobra.Command {
	flags := &clusterFlags{}
	var output format.Output
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check this machine and name the commands that fix it", Args: cobra.NoArgs,
		Long: `Check what an environment with the given clusters needs from this machine, and what earlier
environments have left. It changes nothing. Exit code 0: no check fails; 3: an environment could not
start. up and ci first run the checks that concern their clusters.`,
		Example: "  pipedeck doctor\n  pipedeck doctor --cluster kind\n  pipedeck doctor -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := t.Root()
			if err != nil {
				return err
			}
			d, err := flags.doctor(root, t.Name)
			if err != nil {
				return err
			}
			checks := d.Examine(cmd.Context())
			if cmd.Context().Err() != nil {
				return exit.Silent(exit.Interrupted)
			}
			if err := showChecks(cmd.OutOrStdout(), checks, &output); err != nil {
				return err
			}
			failed := slices.DeleteFunc(checks, func(c doctor.Check) bool { return c.State != doctor.Fail })
			if len(failed) == 0 {
				return nil
			}
			why := failures(failed)
			return exit.With(exit.NotStarted, why, why.Hint)
		},
	}
	flags.register(cmd)
	format.AddListFlags(cmd, &output)
	return cmd
}

func showChecks(w io.Writer, checks []doctor.Check, output *format.Output) error {
	var names []string
	for _, c := range checks {
		names = append(names, c.Name)
	}
	report := func() any {
		all := document.Doctor{Head: document.NewHead(), Checks: []document.DoctorCheck{}}
		for _, c := range checks {
			all.Checks = append(all.Checks, document.DoctorCheck{
				Name: c.Name, State: string(c.State), Found: c.Found, Why: c.Why, Fix: c.Fix, Mend: c.Fix,
			})
		}
		return all
	}
	return output.List(w, report, names, format.Table{Columns: []format.Column{
		{Head: "CHECK"}, {Head: "STATE", State: true}, {Head: "FOUND", Text: true}, // how to fix it is at the end
	}, Rows: rows(checks)})
}

// rows puts all details of a failing check into its last, unaligned cell.
func rows(checks []doctor.Check) [][]string {
	var body [][]string
	for _, c := range checks {
		found := c.Found
		if c.State != doctor.OK {
			found = fmt.Sprintf("%s: %s; next step: %s", c.Found, c.Why, c.Fix)
		}
		body = append(body, []string{c.Name, string(c.State), found})
	}
	return body
}

// programsHere looks for piped and the plugins that up would start.
func programsHere(stateDir, name string) (string, error) {
	w, err := workspace.At(stateDir, name)
	if err != nil {
		return "", err
	}
	_, plugins, err := (&Flags{}).programs(w)
	if err != nil {
		if failure := (*exit.Error)(nil); errors.As(err, &failure) {
			return "", &cluster.HintError{Err: failure.Err, Hint: failure.Hint}
		}
		return "", err
	}
	bin, err := pluginflag.ProgramDir()
	return fmt.Sprintf("piped and %s in %s", line.Count(len(plugins), "plugin"), bin), err
}

// doctor examines this machine for the clusters that the flags ask for.
func (f *clusterFlags) doctor(stateDir, name string) (*doctor.Doctor, error) {
	parsed, err := f.parse()
	if err != nil {
		return nil, err
	}
	var kinds []cluster.Kind
	for _, c := range parsed {
		kinds = append(kinds, c.kind)
	}
	return &doctor.Doctor{
		System: doctor.ThisMachine(), StateDir: stateDir, Name: name, Clusters: kinds,
		NodeImage: f.nodeImage, KindConfig: f.kindConfig, Engine: f.engine.Find,
		Programs: func() (string, error) { return programsHere(stateDir, name) },
		Embedded: func() (*embedded.Found, error) {
			program, err := embedded.NewProgram()
			if err != nil {
				return nil, err
			}
			return program.Look()
		},
	}, nil
}
