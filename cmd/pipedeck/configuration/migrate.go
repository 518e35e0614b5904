// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/piped/config/migrate"
	"github.com/pipedeck/pipedeck/system/inputfile"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/text"
)

func newMigrateCommand() *cobra.Command {
	var output format.Output
	var write bool
	var plugins map[string]string
	cmd := &cobra.Command{
		Use:   "migrate PATH...",
		Short: "Migrate configuration of PipeCD v0 to v1",
		Long: `Turn a piped or application configuration of PipeCD v0, or all of them below a directory, into v1.
Comments, order and layout stay. Without --write, the changes are printed as a unified diff and no
file is touched. What cannot be carried over is reported with its line. For -, standard input, the migrated
configuration is printed.`,
		Example: `  pipedeck migrate app.pipecd.yaml
  pipedeck migrate piped.yaml --write --plugin kubernetes=file:///opt/pipecd/kubernetes
  pipedeck migrate - < old.pipecd.yaml > app.pipecd.yaml`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			filter := slices.Contains(args, standardInput)
			if filter && (len(args) > 1 || write) {
				return exit.Usage(errors.New("- goes alone and without --write"),
					"pipedeck migrate - prints the migrated configuration")
			}
			files, err := findAll(cmd.Context(), cmd.InOrStdin(), args)
			if err != nil {
				return err
			}
			if _, others := takeStories(files); len(others) > 0 {
				files = others // stories are next to them
			}
			m := migrations{Migrations: document.Migrations{Head: document.NewHead(), Files: []document.Migration{}}}
			for _, file := range files {
				if file.link {
					continue // What it leads to is migrated where it is.
				}
				var one document.Migration
				one, m.content = migrateFile(file, migrate.Options{PluginURLs: plugins}, write)
				m.Files = append(m.Files, one)
			}
			switch {
			case output.Machine():
				err = output.Document(cmd.OutOrStdout(), m.Migrations)
			case filter:
				err = m.filter(cmd.OutOrStdout(), cmd.ErrOrStderr())
			default:
				err = m.print(cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			return errors.Join(err, m.verdict())
		},
	}
	cmd.Flags().BoolVar(&write, "write", false, "change the files instead of showing the changes")
	cmd.Flags().StringToStringVar(&plugins, "plugin", nil,
		"`NAME=URL` of a plugin's binary, which v0 did not have; can be repeated")
	format.AddFlag(cmd, &output)
	return cmd
}

// migrations is what a run of migrate did.
type migrations struct {
	document.Migrations
	// content is that of the last file, after the migration.
	content []byte
}

// migrateFile returns what has become of a file, and its migrated content, or that of the file when nothing changes.
func migrateFile(file configurationFile, options migrate.Options, write bool) (m document.Migration, content []byte) {
	m = document.Migration{File: file.name, Notes: []document.MigrationNote{}}
	result, err := migrate.File(file.content, file.name, options)
	if err != nil {
		m.Error = err.Error()
		return m, nil
	}
	m.Changed = result.Changed
	for _, n := range result.Notes {
		m.Notes = append(m.Notes, document.MigrationNote{Line: n.Line, Field: n.Field, Message: n.Message})
	}
	if !m.Changed {
		return m, file.content
	}
	m.Diff = udiff.Unified(file.name, file.name, string(file.content), string(result.Content))
	if write {
		if err := inputfile.Replace(file.name, result.Content); err != nil {
			m.Error = err.Error()
			return m, result.Content
		}
		m.Written = true
	}
	return m, result.Content
}

// print writes the changes to out, so that they can be applied as a patch, and all else to report.
func (m *migrations) print(out, report io.Writer) error {
	var errs []error
	say := func(w io.Writer, format string, args ...any) {
		_, err := fmt.Fprintf(w, format, args...)
		errs = append(errs, err)
	}
	changed := 0
	for _, f := range m.Files {
		switch {
		case f.Error != "":
			say(report, "%s\n", text.Clean(f.Error))
		case !f.Changed:
			say(report, "%s: nothing to do, it is v1 already\n", text.Clean(f.File))
		case f.Written:
			say(report, "%s: migrated\n", text.Clean(f.File))
		default:
			say(out, "%s", cleanLines(f.Diff))
			changed++
		}
		for _, n := range f.Notes {
			say(report, "%s\n", text.Clean(fmt.Sprintf("%s:%d: %s: %s", f.File, n.Line, n.Field, n.Message)))
		}
	}
	if changed > 0 {
		say(report, "%s would change; to do it, add --write\n", line.Count(changed, "file"))
	}
	return errors.Join(errs...)
}

// filter writes the migrated standard input to out, and what is to be said about it to report.
func (m *migrations) filter(out, report io.Writer) error {
	one := m.Files[0]
	if one.Error != "" {
		_, err := fmt.Fprintln(report, text.Clean(one.Error))
		return err
	}
	_, err := out.Write(m.content)
	for _, n := range one.Notes {
		note := fmt.Sprintf("%s:%d: %s: %s", one.File, n.Line, n.Field, n.Message)
		_, noteErr := fmt.Fprintln(report, text.Clean(note))
		err = errors.Join(err, noteErr)
	}
	return err
}

// cleanLines cleans each line by itself: a file may have carriage returns.
func cleanLines(s string) string {
	lines := strings.SplitAfter(s, "\n")
	for i, line := range lines {
		lines[i] = text.Clean(line)
	}
	return strings.Join(lines, "")
}

func (m *migrations) verdict() error {
	failed := 0
	for _, f := range m.Files {
		if f.Error != "" {
			failed++
		}
	}
	if failed > 0 {
		return exit.Usage(fmt.Errorf("%s could not be migrated", line.Count(failed, "file")),
			"correct the lines above and run it again; pipedeck validate checks the files")
	}
	return nil
}
