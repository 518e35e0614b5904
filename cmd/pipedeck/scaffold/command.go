// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"github.com/spf13/cobra"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/version"
	"github.com/pipedeck/pipedeck/tui/document"
)

// sdkModule is the module that holds the SDK.
const sdkModule = "github.com/pipedeck/pipedeck"

//go:embed template
var pluginTemplate embed.FS

// pluginName is what a plugin may be called: its stage and its program are named after it.
var pluginName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,40}$`)

// scaffold is what the template is filled with.
type scaffold struct {
	// Name is the plugin's, Stage that of its stage.
	Name, Stage string
	Module      string
	// SDK is the directory of the SDK's module; empty when it is taken in Version.
	SDK     string
	Version string
}

func newNewCommand() *cobra.Command {
	var modulePath, sdk string
	var output format.Output
	cmd := &cobra.Command{
		Use: "new NAME [DIR]", Short: "Create a new plugin that works", Args: cobra.RangeArgs(1, 2),
		Long: `Write a plugin in Go with one stage, a test, a README and an application to try it with. DIR must
not exist or be empty; without it, it is a directory NAME here.`,
		Example: `  pipedeck plugin new greeter
  pipedeck plugin new greeter ~/src/greeter --module example.com/greeter`,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[0]
			if len(args) == 2 {
				dir = args[1]
			}
			s, err := newScaffold(args[0], modulePath, sdk)
			if err != nil {
				return err
			}
			if err := s.write(dir); err != nil {
				return err
			}
			if output.Machine() {
				return output.Document(cmd.OutOrStdout(), document.NewPluginSources{
					Head: document.NewHead(), Name: s.Name, Stage: s.Stage, Module: s.Module, Directory: dir,
				})
			}
			return s.nextSteps(cmd.OutOrStdout(), dir)
		},
	}
	cmd.Flags().StringVar(&modulePath, "module", "", "path of the Go module (default example.com/NAME)")
	cmd.Flags().StringVar(&sdk, "sdk", "", "clone of pipedeck to take the SDK from (default: the one this program "+
		"was built in, else its released version)")
	format.AddFlag(cmd, &output)
	return cmd
}

func newScaffold(name, modulePath, sdk string) (*scaffold, error) {
	if !pluginName.MatchString(name) {
		return nil, exit.Usage(fmt.Errorf("%q is no name for a plugin", name),
			"use small letters, digits, - and _, a letter first, such as greeter")
	}
	s := &scaffold{Name: name, Stage: strings.ToUpper(strings.ReplaceAll(name, "-", "_")), Module: modulePath,
		Version: "v0.0.0"}
	if s.Module == "" {
		s.Module = "example.com/" + name
	}
	if err := module.CheckImportPath(s.Module); err != nil {
		return nil, exit.Usage(err, "give a module path such as --module example.com/"+name)
	}
	if sdk != "" {
		dir, err := filepath.Abs(sdk)
		if err != nil {
			return nil, err
		}
		if !holdsSDK(dir) {
			return nil, exit.Usage(fmt.Errorf("%s is not a clone of pipedeck: it has no go.mod of %s", dir, sdkModule),
				"give the directory of the clone with --sdk")
		}
		s.SDK = dir
		return s, nil
	}
	// make build puts the programs into bin/ of the clone.
	if bin, err := pluginflag.ProgramDir(); err == nil && holdsSDK(filepath.Dir(bin)) {
		s.SDK = filepath.Dir(bin)
		return s, nil
	}
	if err := module.Check(sdkModule, version.Build()); err != nil {
		return nil, exit.Usage(errors.New("this program was built from sources that it does not find any more, so "+
			"it does not know where the SDK is"),
			"give a clone of pipedeck with --sdk DIR")
	}
	s.Version = version.Build()
	return s, nil
}

func holdsSDK(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && modfile.ModulePath(data) == sdkModule
}

// write fills the template. It overwrites nothing.
func (s *scaffold) write(dir string) error {
	switch entries, err := os.ReadDir(dir); {
	case err == nil && len(entries) > 0:
		return exit.Usage(fmt.Errorf("%s is not empty", dir),
			"give another directory: pipedeck plugin new "+s.Name+" DIR")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("read the directory of the plugin: %w", err)
	}
	const root = "template"
	templates, err := fs.Sub(pluginTemplate, root)
	if err != nil {
		return err
	}
	return fs.WalkDir(templates, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(templates, path)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(path, ".tmpl")
		if name == "gitignore" { // embed skips names with a dot
			name = ".gitignore"
		}
		return s.fill(filepath.Join(dir, filepath.FromSlash(name)), string(text))
	})
}

func (s *scaffold) fill(path, text string) error {
	// The delimiters occur in no language that the files are written in.
	parsed, err := template.New(path).Delims("«", "»").Parse(text)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the directory of the plugin: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write a file of the plugin: %w", err)
	}
	return errors.Join(parsed.Execute(file, s), file.Close())
}

func (s *scaffold) nextSteps(w io.Writer, dir string) error {
	_, err := fmt.Fprintf(w, `Wrote plugin %s with the stage %s to %s. Try it:

  cd %s
  go mod tidy && go test ./...
  git init -q -b main && git add . && git commit -q -m "Begin"
  pipedeck up . --cluster none --plugin %s=.

Then change stage.go and save it. More: docs/plugin-author-guide.md of pipedeck.
`, s.Name, s.Stage, dir, dir, s.Name)
	return err
}
