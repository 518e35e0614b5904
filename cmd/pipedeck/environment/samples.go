// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/image"
	sampleapps "github.com/pipedeck/pipedeck/sample-apps"
)

// newSamplesCommand compiles the programs of the samples for a release, so that its users need no Go to deploy them.
func newSamplesCommand() *cobra.Command {
	var output string
	var platforms []string
	cmd := &cobra.Command{
		Use: "compile-samples", Short: "Compile the programs of the samples for a release", Args: cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var wanted []image.Platform
			for _, name := range platforms {
				system, architecture, ok := strings.Cut(name, "/")
				if !ok {
					return exit.Usage(fmt.Errorf("--platform %q is not like linux/amd64", name), "give OS/ARCHITECTURE")
				}
				wanted = append(wanted, image.Platform{OS: system, Architecture: architecture})
			}
			if output == "" || len(wanted) == 0 {
				return exit.Usage(errors.New("give --output and --platform"), "see pipedeck compile-samples --help")
			}
			output, err := filepath.Abs(output)
			if err != nil {
				return err
			}
			return compileSamples(cmd.Context(), wanted, output)
		},
	}
	cmd.Flags().StringVar(&output, "output", "", "directory for the programs")
	cmd.Flags().StringArrayVar(&platforms, "platform", nil, "OS/ARCHITECTURE; repeat for several")
	return cmd
}

// compileSamples compiles the program of each folder of each sample that has one.
func compileSamples(ctx context.Context, platforms []image.Platform, output string) (err error) {
	dir, err := os.MkdirTemp("", "pipedeck-samples-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var references []string
	for _, sample := range sampleapps.All() {
		repository := filepath.Join(dir, sample.Name)
		err := sample.Walk(func(name string, content []byte) error {
			if filepath.Base(name) == "main.go" {
				references = append(references, image.Domain+"/"+filepath.ToSlash(filepath.Dir(name))+":v1")
			}
			file := filepath.Join(repository, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				return err
			}
			return os.WriteFile(file, content, 0o600)
		})
		if err != nil {
			return err
		}
		if err := image.CompileAll(ctx, repository, references, platforms, output); err != nil {
			return err
		}
		references = nil
	}
	return nil
}
