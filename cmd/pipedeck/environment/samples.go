// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// compileSamples compiles each program of the samples once, in a repository that holds all samples.
func compileSamples(ctx context.Context, platforms []image.Platform, output string) (err error) {
	dir, err := os.MkdirTemp("", "pipedeck-samples-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var references []string
	for _, sample := range sampleapps.All() {
		err := sample.Walk(func(name string, content []byte) error {
			if filepath.Base(name) == "main.go" {
				references = append(references, image.Domain+"/"+filepath.ToSlash(filepath.Dir(name))+":v1")
			}
			file := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				return err
			}
			return os.WriteFile(file, content, 0o600)
		})
		if err != nil {
			return err
		}
	}
	return image.CompileAll(ctx, dir, references, platforms, output)
}

// samplesHelp lists the samples, a line each, for the help of a command.
func samplesHelp() string {
	var help strings.Builder
	help.WriteString("\n\nSamples, one or several:\n")
	for _, sample := range sampleapps.All() {
		fmt.Fprintf(&help, "  %-15s %s\n", sample.Name, sample.Summary)
	}
	return strings.TrimRight(help.String(), "\n")
}

// checkSampleClusters refuses samples that deploy to clusters which the environment does not have.
func (f *Flags) checkSampleClusters(samples []sampleapps.Sample, clusters []namedKind) error {
	for _, sample := range samples {
		missing := slices.ContainsFunc(sample.Clusters, func(name string) bool {
			return !slices.ContainsFunc(clusters, func(n namedKind) bool { return n.name == name })
		})
		if !missing {
			continue
		}
		next := f.command()
		for _, name := range f.samples {
			next += " --sample " + name
		}
		for _, name := range sample.Clusters {
			next += " --cluster " + name + "=embedded"
		}
		return exit.Usage(fmt.Errorf("the sample %s deploys to the clusters %s, which this environment does not have",
			sample.Name, strings.Join(sample.Clusters, " and ")), next)
	}
	return nil
}
