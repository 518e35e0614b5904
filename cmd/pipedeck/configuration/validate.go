// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/config/options"
	"github.com/pipedeck/pipedeck/piped/notifier"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/text"
)

func newValidateCommand() *cobra.Command {
	var output string
	var strict bool
	var pipedConfig string
	var given []string
	cmd := &cobra.Command{
		Use:   "validate [PATH]",
		Short: "Check piped and application configuration files",
		Long: `Check a file, or every piped and application configuration below a directory: app.pipecd.yaml,
anything else ending in .pipecd.yaml, and YAML and JSON files with apiVersion pipecd.dev/v1beta1.

Applications are compared with each other and with the plugins of the piped configurations that are
checked with them, or of --piped-config: plugins and stages that no piped has, and names used twice.

Options of plugins and of stages are checked against the schemas of the plugins. Those of pipedeck and of
PipeCD are known by their names; --plugin asks the program of another plugin, which it runs as: PATH schema.

A file keys.yaml that is named itself is checked as the key file of the terminal UI.

Each problem is one line: file:line:column: error or warning: key: what is wrong and what is allowed.`,
		Example: `  pipedeck validate
  pipedeck validate piped.yaml --strict
  pipedeck validate apps --piped-config piped.yaml
  pipedeck validate apps --plugin greeter=dist/greeter`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := findConfigurations(cmd.Context(), pathArgument(args))
			if err != nil {
				return err
			}
			v := checkKeys(files)
			if v == nil {
				c, err := pluginflag.NewChecker(cmd.Context(), given, cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				if v, err = checkFiles(cmd.Context(), c, files, pipedConfig, strict); err != nil {
					return err
				}
			}
			if output == "json" {
				err = json.NewEncoder(cmd.OutOrStdout()).Encode(v)
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
		"`NAME=PATH` of a plugin whose program, or Go package, knows the schema of its options; repeatable")
	format.AddFlag(cmd, &output)
	return cmd
}

// checkFiles checks each file, then what only all of them show. A piped configuration that is named is checked, too.
func checkFiles(ctx context.Context, c *options.Checker, files []configurationFile, pipedConfig string,
	strict bool) (*validation, error) {
	if pipedConfig != "" && !slices.ContainsFunc(files,
		func(f configurationFile) bool { return filepath.Clean(f.name) == filepath.Clean(pipedConfig) }) {
		named, err := findConfigurations(ctx, pipedConfig)
		if err != nil {
			return nil, err
		}
		files = append(files, named...)
	}
	var reports []*config.Report
	var lists []string
	for _, file := range files {
		report := config.Check(file.content, file.name)
		switch {
		case file.link:
			report = config.Refuse(file.name, "is a symbolic link: piped reads configuration from regular files "+
				"only; commit a copy of the file")
		case report.Application != nil && !config.IsReportablePath(file.name):
			report = config.Refuse(file.name, "the path is not one line of UTF-8 text, so piped skips the "+
				"application; rename the directory")
		}
		reports = append(reports, report)
		if report.Application != nil {
			checkKubernetesInputs(report, file.name)
		}
		if report.Piped == nil {
			continue
		}
		checkTemplates(report)
		if pipedConfig == "" || filepath.Clean(file.name) == filepath.Clean(pipedConfig) {
			for _, plugin := range report.Piped.Plugins {
				c.Plugins = append(c.Plugins, pluginflag.WithSchema(c.Catalogue, plugin.Name, plugin.Stages))
			}
			if len(report.Piped.Plugins) > 0 {
				lists = append(lists, "spec.plugins of "+file.name)
			}
		}
	}
	c.Where = strings.Join(lists, " and ")
	for _, report := range reports {
		c.CheckOptions(report)
	}
	c.CheckTogether(reports...)
	v := &validation{Checked: len(files), Problems: []problem{}}
	for _, report := range reports {
		v.add(report, strict)
	}
	return v, nil
}

// checkKeys checks a key file of the terminal UI that is named itself; nil for anything else.
func checkKeys(files []configurationFile) *validation {
	if len(files) != 1 || filepath.Base(files[0].name) != "keys.yaml" || config.Claimed(files[0].content) {
		return nil
	}
	v := &validation{Checked: 1, Problems: []problem{}}
	for _, m := range keymap.Parse(files[0].content, files[0].name).Mistakes {
		v.Problems = append(v.Problems, problem{m.File, m.Line, m.Column, "error", m.Field, m.Message})
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

// pathArgument is the current directory when the user names nothing.
func pathArgument(args []string) string {
	if len(args) == 0 {
		return "."
	}
	return args[0]
}

// validation is what a run of validate found, and its JSON.
type validation struct {
	Checked  int       `json:"checked"`
	Problems []problem `json:"problems"`
}

// problem is one mistake; Severity is "error" or "warning". Line and Column are 0 for a whole file.
type problem struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Severity string `json:"severity"`
	Field    string `json:"field"`
	Message  string `json:"message"`
}

func (v *validation) add(report *config.Report, strict bool) {
	first := len(v.Problems)
	take := func(list config.Errors, severity string) {
		for _, e := range list {
			v.Problems = append(v.Problems, problem{e.File, e.Line, e.Column, severity, e.Field, e.Message})
		}
	}
	take(report.Errors, "error")
	if strict {
		take(report.Warnings, "error")
	} else {
		take(report.Warnings, "warning")
	}
	slices.SortStableFunc(v.Problems[first:], func(a, b problem) int {
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

// configurationFile is a file to check. The content is cut off behind config.MaxSize, so that the
// check says that it is too large.
type configurationFile struct {
	name    string
	content []byte
	// link marks a symbolic link below the directory, which is not followed.
	link bool
}

// findConfigurations reads the file, or all configurations below the directory in the order of their
// names. Symbolic links below it are not followed.
func findConfigurations(ctx context.Context, root string) ([]configurationFile, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, exit.Usage(err, "name an existing file or directory")
	}
	if !info.IsDir() {
		content, err := readFile(ctx, root)
		switch {
		case ctx.Err() != nil:
			return nil, exit.Silent(exit.Interrupted)
		case err != nil:
			return nil, exit.Usage(err, "name a file that can be read")
		}
		return []configurationFile{{name: root, content: content}}, nil
	}
	var files []configurationFile
	// Names may be any bytes, which io/fs does not walk.
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case entry.Type()&fs.ModeSymlink != 0 && config.IsApplicationFilename(name):
			files = append(files, configurationFile{name: name, link: true})
			return nil
		case !entry.Type().IsRegular() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)):
			return nil
		}
		content, err := readBounded(name)
		if err != nil {
			return err
		}
		if config.IsApplicationFilename(name) || (len(content) <= config.MaxSize && config.Claimed(content)) {
			files = append(files, configurationFile{name: name, content: content})
		}
		return nil
	})
	if err != nil {
		return nil, exit.Usage(err, "make the directory readable, or name one file")
	}
	if len(files) == 0 {
		return nil, exit.Usage(fmt.Errorf("%s holds no piped or application configuration", root),
			"name the file, or the directory of an app.pipecd.yaml")
	}
	return files, nil
}

// readFile reads a file that is named itself, which may be a pipe. As with any program, one that no one has opened for
// writing yet is waited for; the end of ctx ends that.
func readFile(ctx context.Context, name string) ([]byte, error) {
	// Without O_NONBLOCK, it is the opening that waits, and nothing ends that.
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	defer context.AfterFunc(ctx, func() { _ = file.SetReadDeadline(time.Now()) })()
	if info, err := file.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return readAll(file)
	}
	pipe, err := file.SyscallConn()
	if err != nil {
		return nil, err
	}
	first, opened := make([]byte, 4096), false
	var n int
	waited := pipe.Read(func(fd uintptr) (done bool) {
		n, err = syscall.Read(int(fd), first)
		// Nothing at all is also what is read before someone writes; an event reports those who come.
		done = !errors.Is(err, syscall.EAGAIN) && (n != 0 || opened)
		opened = true
		return done
	})
	if err := errors.Join(waited, err); err != nil || n <= 0 {
		return nil, err
	}
	rest, err := readAll(file)
	return append(first[:n], rest...), err
}

func readAll(r io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(r, config.MaxSize+1)) }

func readBounded(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readAll(file)
}
