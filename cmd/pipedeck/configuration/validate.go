// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/config/options"
	"github.com/pipedeck/pipedeck/piped/notifier"
	"github.com/pipedeck/pipedeck/plugins"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/text"
)

func newValidateCommand() *cobra.Command {
	var output format.Output
	var strict bool
	var pipedConfig string
	var given []string
	cmd := &cobra.Command{
		Use:   "validate [PATH...]",
		Short: "Check configuration files",
		Long: `Check files, or every configuration below directories; - is standard input. Configurations are
app.pipecd.yaml, anything else ending in .pipecd.yaml, YAML and JSON files with apiVersion
pipecd.dev/v1beta1 of the kinds Application, Piped, EventWatcher and AnalysisTemplate, piped-plugin.yaml
of plugins under development, and plugin indexes that are called index.yaml or index.json.

Applications are compared with each other and with the plugins of the piped configurations that are
checked with them, or of --piped-config: plugins, stages and analysis providers that no piped has, names used
twice and, for a whole repository, deployment chains that deploy nothing. Analysis templates are those in the folder
.pipe of the repository.

Options of plugins and of stages are checked against the schemas of the plugins. Those of pipedeck and of
PipeCD are known by their names; --plugin asks the program of another plugin, which it runs as: PATH schema.

A file keys.yaml that is named itself is checked as the key file of the terminal UI, and config.yaml as the file
with the defaults of flags. Stories of pipedeck demo are checked when only such files are named.

Each problem is one line: file:line:column: error or warning: key: what is wrong and what is allowed.`,
		Example: `  pipedeck validate
  pipedeck validate piped.yaml --strict
  pipedeck validate apps --piped-config piped.yaml
  pipedeck validate apps --plugin greeter=dist/greeter
  pipedeck validate web/app.pipecd.yaml api/app.pipecd.yaml
  git show HEAD:app.pipecd.yaml | pipedeck validate -`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := findAll(cmd.Context(), cmd.InOrStdin(), pathArguments(args))
			if err != nil {
				return err
			}
			v, err := check(cmd, files, &validator{
				given: given, pipedConfig: pipedConfig, whole: slices.ContainsFunc(pathArguments(args), isRepository),
			}, strict)
			if err != nil {
				return err
			}
			if output.Machine() {
				err = output.Document(cmd.OutOrStdout(), v.Validation)
			} else {
				err = v.print(cmd.OutOrStdout())
			}
			return errors.Join(err, v.verdict())
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "treat warnings as errors")
	cmd.Flags().StringVar(&pipedConfig, "piped-config", "",
		"`FILE` with the configuration of the piped that deploys the applications")
	cmd.Flags().StringArrayVar(&given, "plugin", nil,
		"`NAME=PATH` of a plugin whose program, or directory, knows the schema of its options; repeatable")
	format.AddFlag(cmd, &output)
	return cmd
}

// check checks a file of pipedeck itself, or configuration of PipeCD.
func check(cmd *cobra.Command, files []configurationFile, by *validator, strict bool) (v *validation, err error) {
	if v = checkKeys(files); v != nil {
		return v, nil
	}
	if v = checkDefaults(cmd.Root(), files); v != nil {
		return v, nil
	}
	stories, files := takeStories(files)
	checked := checkStories(stories)
	if len(files) == 0 {
		return checked, nil
	}
	if by.checker, err = pluginflag.NewChecker(cmd.Context(), by.given, cmd.ErrOrStderr()); err != nil {
		return nil, err
	}
	if v, err = by.check(cmd.Context(), files, strict); err != nil {
		return nil, err
	}
	v.Checked += checked.Checked
	v.Problems = append(v.Problems, checked.Problems...)
	return v, nil
}

// validator checks files together.
type validator struct {
	checker *options.Checker
	// given are the plugins of the flag --plugin.
	given []string
	// pipedConfig names a piped configuration that is checked, too; empty for none.
	pipedConfig string
	// whole says that the files are those of a whole repository.
	whole bool
	// lists are the places that list the plugins of piped.
	lists      []string
	references references
}

// check checks each file, then what only all of them show.
func (v *validator) check(ctx context.Context, files []configurationFile, strict bool) (*validation, error) {
	if v.pipedConfig != "" && !slices.ContainsFunc(files,
		func(f configurationFile) bool { return filepath.Clean(f.name) == filepath.Clean(v.pipedConfig) }) {
		named, err := findConfigurations(ctx, v.pipedConfig)
		if err != nil {
			return nil, err
		}
		files = append(files, named...)
	}
	var reports []*config.Report
	for _, file := range files {
		reports = append(reports, v.read(file))
	}
	if err := v.checkPipedConfig(reports); err != nil {
		return nil, err
	}
	v.checker.Where, v.checker.Folder = strings.Join(v.lists, " and "), repositoryFolder
	for i, report := range reports {
		v.checker.CheckOptions(report)
		v.references.check(report)
		if err := checkHealthRules(ctx, report); err != nil {
			return nil, err
		}
		switch report.Kind {
		case config.KindPluginFile:
			v.pluginFile(ctx, report)
		case config.KindPluginIndex:
			checkIndex(report, files[i].content)
		}
	}
	v.checker.Complete = v.whole && !slices.ContainsFunc(reports, func(r *config.Report) bool {
		return r.Piped != nil && len(r.Piped.Repositories) > 1 // whose applications may be in a chain, too
	})
	around := newAround()
	defer around.close()
	v.checker.Around = around.check
	v.checker.CheckTogether(reports...)
	all := newValidation(len(files))
	for _, report := range reports {
		all.add(report, strict)
	}
	return all, nil
}

// checkPipedConfig refuses files of another kind in --piped-config, from which nothing would be known of plugins.
func (v *validator) checkPipedConfig(reports []*config.Report) error {
	for _, report := range reports {
		if v.pipedConfig == "" || filepath.Clean(report.File()) != filepath.Clean(v.pipedConfig) ||
			report.Kind == "" || report.Piped != nil {
			continue // A file without a kind is wrong by itself, and reported as such.
		}
		kind := report.Kind
		if kind != config.KindPluginFile && kind != config.KindPluginIndex {
			kind = "file of the kind " + kind
		}
		return exit.Usage(fmt.Errorf("--piped-config %s is a %s: want the configuration of a piped, of the kind %s",
			report.File(), kind, config.KindPiped), "name the file of piped: --piped-config piped.yaml")
	}
	return nil
}

// read checks a file by itself, and notes the plugins that it lists.
func (v *validator) read(file configurationFile) *config.Report {
	report := config.Check(file.content, file.name)
	part := report.Piped != nil && report.Piped.IsPart()
	if part { // for up and ci with --piped-config
		report = config.CheckProvided(file.content, file.name, config.Provided{
			Plugins: plugins.Bundled(), Repositories: []string{workspace.RepositoryID},
		})
	}
	switch {
	case file.link:
		return config.Refuse(file.name, "is a symbolic link: piped reads configuration from regular files "+
			"only; commit a copy of the file")
	case report.Application != nil && !config.IsReportablePath(file.name):
		return config.Refuse(file.name, "the path is not one line of UTF-8 text, so piped skips the "+
			"application; rename the directory")
	case report.Application != nil && file.name == inputName: // it has no files next to it
	case report.Application != nil:
		if !config.IsApplicationFilename(file.name) {
			report.Warn("kind", config.NotFound)
		}
		checkKubernetesInputs(report)
		checkFilledFiles(report)
	case report.Piped != nil:
		checkTemplates(report)
		if v.pipedConfig == "" || filepath.Clean(file.name) == filepath.Clean(v.pipedConfig) {
			v.plugins(report.Piped, file.name)
			v.references.note(report)
			if part {
				v.bundled(report.Piped)
			}
		}
	}
	return report
}

// plugins notes the plugins of the piped that deploys the applications.
func (v *validator) plugins(piped *config.Piped, file string) {
	c := v.checker
	for _, plugin := range piped.Plugins {
		c.Plugins = append(c.Plugins, pluginflag.WithSchema(c.Catalogue, plugin.Name, plugin.Stages))
	}
	if len(piped.Plugins) > 0 {
		v.lists = append(v.lists, "spec.plugins of "+file)
	}
}

// bundled notes the plugins that an environment has besides those of a piped configuration.
func (v *validator) bundled(piped *config.Piped) {
	c := v.checker
	for _, name := range plugins.Bundled() {
		listed := slices.ContainsFunc(piped.Plugins, func(p config.Plugin) bool { return p.Name == name })
		if len(piped.Plugins) > 0 && !listed {
			c.Plugins = append(c.Plugins, pluginflag.WithSchema(c.Catalogue, name, nil))
		}
	}
}

// checkKeys checks a key file of the terminal UI that is named itself; nil for anything else.
func checkKeys(files []configurationFile) *validation {
	if len(files) != 1 || filepath.Base(files[0].name) != "keys.yaml" || config.Claimed(files[0].content, "keys.yaml") {
		return nil
	}
	v := newValidation(1)
	for _, m := range keymap.Parse(files[0].content, files[0].name).Mistakes {
		v.Problems = append(v.Problems, document.Mistake{
			File: m.File, Line: m.Line, Column: m.Column, Severity: "error", Field: m.Field, Message: m.Message,
		})
	}
	return v
}

// checkTemplates tries the templates of notifications, which piped does before it starts.
func checkTemplates(report *config.Report) {
	for i, receiver := range report.Piped.Notifications.Receivers {
		if err := notifier.CheckTemplate(receiver.Template); err != nil {
			report.Add(fmt.Sprintf("spec.notifications.receivers[%d].template", i), err.Error())
		}
	}
}

// pathArguments is the current directory when the user names nothing.
func pathArguments(args []string) []string {
	if len(args) == 0 {
		return []string{"."}
	}
	return args
}

// isRepository reports whether a path is the root of a Git repository.
func isRepository(path string) bool {
	_, err := os.Lstat(filepath.Join(path, ".git"))
	return err == nil
}

// validation is what a run of validate found.
type validation struct{ document.Validation }

func newValidation(checked int) *validation {
	return &validation{document.Validation{
		Head: document.NewHead(), Checked: checked, Problems: []document.Mistake{},
	}}
}

func (v *validation) add(report *config.Report, strict bool) {
	first := len(v.Problems)
	take := func(list config.Errors, severity string) {
		for _, e := range list {
			v.Problems = append(v.Problems, document.Mistake{
				File: e.File, Line: e.Line, Column: e.Column, Severity: severity, Field: e.Field, Message: e.Message,
			})
		}
	}
	take(report.Errors, "error")
	if strict {
		take(report.Warnings, "error")
	} else {
		take(report.Warnings, "warning")
	}
	slices.SortStableFunc(v.Problems[first:], func(a, b document.Mistake) int {
		return slices.Compare([]int{a.Line, a.Column}, []int{b.Line, b.Column})
	})
}

func (v *validation) count(severity string) int {
	n := 0
	for _, p := range v.Problems {
		if p.Severity == severity {
			n++
		}
	}
	return n
}

func (v *validation) print(w io.Writer) error {
	for _, p := range v.Problems {
		place := p.File
		if p.Line > 0 {
			place = fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
		}
		if p.Field != "" {
			p.Message = p.Field + ": " + p.Message
		}
		if _, err := fmt.Fprintf(w, "%s: %s: %s\n", text.Clean(place), p.Severity, text.Clean(p.Message)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "checked %s: %s, %s\n", line.Count(v.Checked, "file"),
		line.Count(v.count("error"), "error"), line.Count(v.count("warning"), "warning"))
	return err
}

func (v *validation) verdict() error {
	if n := v.count("error"); n > 0 {
		return exit.Usage(fmt.Errorf("the configuration has %s", line.Count(n, "error")),
			"correct the lines above and run it again")
	}
	return nil
}
