// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/configuration/discovery"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/gitroot"
	"github.com/pipedeck/pipedeck/tui/text"
)

func newInitCommand() *cobra.Command {
	var pipeline string
	var output format.Output
	var write bool
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write application configurations for a repository",
		Long: `Find what a Git repository could deploy, and write an app.pipecd.yaml next to it: for each folder of
plain manifests, each kustomization that no other uses, and each Helm chart. DIR is the repository or one
of its folders; the default is the current directory.

Without --write, the files are printed as a patch, with the reason of each, and nothing is written. --write
creates them; it changes no file that exists. Each application is rendered as a deployment would do it,
without the network: its objects are counted by their kinds, and what fails is named with its file and line.

Left out are files that Git ignores, hidden folders, node_modules, vendor, tests, generated files, folders of
CustomResourceDefinitions alone, and what has an application configuration or is a part of one.`,
		Example: `  pipedeck init
  pipedeck init ~/src/my-app --pipeline canary
  pipedeck init --write`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			chosen, known := discovery.FindPipeline(pipeline)
			if !known {
				return exit.Usage(fmt.Errorf("--pipeline %q is unknown", pipeline), "use "+pipelineNames())
			}
			i, err := findApplications(cmd, pathArguments(args)[0], chosen)
			if err != nil {
				return err
			}
			if err := i.render(cmd.Context()); err != nil {
				return err
			}
			if write {
				i.write()
			}
			if output.Machine() {
				err = output.Document(cmd.OutOrStdout(), i.Initialization)
			} else {
				err = i.print(cmd.OutOrStdout(), cmd.ErrOrStderr(), commandLine(args, pipeline))
			}
			return errors.Join(err, i.verdict())
		},
	}
	cmd.Flags().BoolVar(&write, "write", false, "create the files instead of showing them")
	cmd.Flags().StringVar(&pipeline, "pipeline", string(discovery.Quick), "how to deploy: "+pipelineNames())
	format.AddFlag(cmd, &output)
	return cmd
}

func pipelineNames() string {
	var names []string
	for _, p := range discovery.Pipelines() {
		names = append(names, string(p))
	}
	return strings.Join(names, ", ")
}

// findApplications looks at the repository around a directory.
func findApplications(cmd *cobra.Command, dir string, pipeline discovery.Pipeline) (*initialization, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, exit.Usage(fmt.Errorf("%s is not a directory", dir), "give the directory of a Git repository")
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	root, found := gitroot.Of(dir)
	if !found {
		return nil, exit.Usage(fmt.Errorf("%s is not in a Git repository", dir),
			"create one: git -C "+text.ShellWord(dir)+" init")
	}
	below, err := filepath.Rel(root, dir)
	if err != nil {
		return nil, err
	}
	result, err := discovery.Find(cmd.Context(), root, filepath.ToSlash(below), filepath.Base(root))
	var limit *discovery.LimitError
	switch {
	case cmd.Context().Err() != nil:
		return nil, exit.Silent(exit.Interrupted)
	case errors.As(err, &limit):
		return nil, exit.Usage(err, "put what is no deployment into .gitignore, or write the app.pipecd.yaml yourself")
	case errors.Is(err, fs.ErrPermission):
		return nil, exit.Usage(err, "make the repository readable")
	case err != nil:
		return nil, err
	}
	i := newInitialization(root, result, pipeline)
	if len(result.Applications)+len(result.Existing)+len(result.Problems) == 0 {
		return nil, exit.Usage(fmt.Errorf("%s holds nothing to deploy: looked for manifests (*.yaml, *.yml and *.json "+
			"with apiVersion and kind), kustomization.yaml and Chart.yaml%s", dir, i.leftOut()),
			"add a manifest, or try a sample: pipedeck up --sample hello-world")
	}
	return i, nil
}
