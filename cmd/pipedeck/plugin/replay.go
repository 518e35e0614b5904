// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/report"
	"github.com/pipedeck/pipedeck/plugins/sdk/recording"
	"github.com/pipedeck/pipedeck/plugins/sdk/standin"
	"github.com/pipedeck/pipedeck/system/inputfile"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/text"
)

// replayFlags say what is compared with a recording, and how.
type replayFlags struct {
	programFlags
	ignore     []string
	repository string
	verbose    bool
	junit      []string
}

func newReplayCommand() *cobra.Command {
	flags := &replayFlags{}
	cmd := &cobra.Command{
		Use: "replay FILE PROGRAM|DIR", Short: "Replay recorded calls to a plugin and compare the results",
		Args: cobra.ExactArgs(2),
		Long: `Call a plugin as in a recording of pipedeck plugin record, one call after the other, and compare its
answers, the logs and metadata of its stages, and how each stage ended. Ids, times, durations and
local addresses may differ. The plugin really runs: if it deploys, it deploys again. Exit code 1:
there are differences.

Without --config the plugin gets the recorded configuration, in which secrets are masked.`,
		Example: `  pipedeck plugin replay calls.jsonl ./greeter
  pipedeck plugin replay calls.jsonl dist/greeter --repository ~/src/my-apps
  pipedeck plugin replay calls.jsonl ./greeter --ignore 'took \d+' -o json`,
		RunE: func(cmd *cobra.Command, args []string) error { return flags.run(cmd, args[0], args[1]) },
	}
	flags.register(cmd)
	format.AddFlag(cmd, &flags.output)
	return cmd
}

func (f *replayFlags) register(cmd *cobra.Command) {
	f.programFlags.register(cmd)
	cmd.Flags().StringArrayVar(&f.ignore, "ignore", nil, "`REGEXP` of texts that may differ; can be repeated")
	cmd.Flags().StringVar(&f.repository, "repository", "",
		"`DIR` of the repository with the applications, as it was at the recorded commits (default: directories "+
			"with the application configuration alone)")
	cmd.Flags().StringArrayVar(&f.junit, "junit", nil, "write the results to this file as JUnit XML")
	cmd.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "show what the plugin prints")
}

// run replays the recording in a file to the plugin at a place.
func (f *replayFlags) run(cmd *cobra.Command, file, place string) (err error) {
	options, err := f.options()
	if err != nil {
		return err
	}
	rec, err := readRecording(file, f.name)
	if err != nil {
		return err
	}
	plugin, err := f.open(cmd.Context(), place)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plugin.remove()) }()
	if plugin.settings, err = rec.SettingsOr(plugin.settings, f.configFile != ""); err != nil {
		return exit.Usage(err, "give a configuration with --config")
	}
	mask, err := newConfigMask(plugin.settings, "", false) // the user compares what the other values lead to
	if err != nil {
		return err
	}
	output := newPluginOutput(f.verbose, mask, cmd.ErrOrStderr())
	defer func() { err = errors.Join(err, output.flush()) }()
	options.Start = func(piped *standin.Piped) (*standin.Program, error) {
		return standin.StartProgram(cmd.Context(), plugin.path, plugin.scratch, piped.Address, plugin.settings, output)
	}
	noteRecording(cmd.ErrOrStderr(), rec)
	began := time.Now()
	outcomes, err := recording.Replay(cmd.Context(), rec, options)
	all := replayed(mask, outcomes)
	if err != nil || cmd.Context().Err() != nil {
		if !f.output.Machine() { // as far as it came
			err = cmp.Or(printOutcomes(cmd.OutOrStdout(), all), err)
		}
		return notRun(cmd.Context(), mask, err)
	}
	for _, path := range f.junit {
		if err := writeReplayJUnit(path, all, file, began); err != nil {
			return err
		}
	}
	return showOutcomes(cmd.OutOrStdout(), all, &f.output)
}

// options are those of the flags.
func (f *replayFlags) options() (options recording.ReplayOptions, err error) {
	if options.Ignore, err = compilePatterns(f.ignore); err != nil {
		return options, err
	}
	if f.repository != "" {
		if options.Repository, err = filepath.Abs(f.repository); err != nil {
			return options, exit.Usage(err, "give the directory of a repository")
		}
	}
	return options, nil
}

func compilePatterns(texts []string) (list []*regexp.Regexp, err error) {
	for _, text := range texts {
		pattern, err := regexp.Compile(text)
		if err != nil {
			return nil, exit.Usage(fmt.Errorf("--ignore: %w", err), "give a regular expression of Go")
		}
		list = append(list, pattern)
	}
	return list, nil
}

func readRecording(path, plugin string) (*recording.Recording, error) {
	file, err := inputfile.Open(path)
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("read the recording: %w", err), "make one with: pipedeck plugin record")
	}
	defer file.Close()
	rec, err := recording.Read(file, plugin)
	var several *recording.AmbiguousError
	var newer *recording.FormatError
	switch {
	case errors.As(err, &newer):
		return nil, exit.Usage(fmt.Errorf("%s: %w", path, err), "read it with a newer pipedeck")
	case errors.As(err, &several):
		return nil, exit.Usage(fmt.Errorf("%s: %w", path, err), "choose one with --plugin-name "+several.Plugins[0])
	case err != nil:
		return nil, exit.Usage(fmt.Errorf("%s: %w", path, err), "make one with: pipedeck plugin record")
	}
	return rec, nil
}

// replayed are the outcomes as users see them, without secrets.
func replayed(mask *configMask, outcomes []recording.Outcome) []document.ReplayedCall {
	all := []document.ReplayedCall{}
	for _, outcome := range outcomes {
		one := document.ReplayedCall{Name: outcome.Name, Same: len(outcome.Differences) == 0,
			Differences: []document.Difference{}}
		for _, d := range outcome.Differences {
			one.Differences = append(one.Differences, document.Difference{What: d.What,
				Recorded: mask.text(d.Recorded), Replayed: mask.text(d.Replayed)})
		}
		all = append(all, one)
	}
	return all
}

func showOutcomes(w io.Writer, all []document.ReplayedCall, output *format.Output) error {
	differ := 0
	for _, one := range all {
		if !one.Same {
			differ++
		}
	}
	var err error
	if output.Machine() {
		err = output.Document(w, document.Replay{Head: document.NewHead(), Calls: all})
	} else {
		err = printOutcomes(w, all)
	}
	if differ > 0 {
		err = errors.Join(err, exit.With(exit.Failed, fmt.Errorf("%d of %d are not as recorded", differ, len(all)),
			"see the differences above; what may differ can be left out with --ignore REGEXP"))
	}
	return err
}

// writeReplayJUnit writes what is replayed of a recording as tests: each call, and each report, is one.
func writeReplayJUnit(path string, all []document.ReplayedCall, recorded string, began time.Time) error {
	var cases []report.Case
	for _, one := range all {
		c := report.Case{Name: one.Name, Class: filepath.Base(recorded)}
		if !one.Same {
			var what []string
			for _, d := range one.Differences {
				what = append(what, d.What)
			}
			c.Failure = strings.Join(what, ", ") + " not as recorded"
			c.Text = differencesText(one, "")
		}
		cases = append(cases, c)
	}
	data, err := report.JUnitCases("pipedeck plugin replay", began, time.Since(began), cases)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return exit.With(exit.Unwritten, fmt.Errorf("write the results as JUnit XML: %w", err),
			"give a file that can be written with --junit")
	}
	return nil
}

func printOutcomes(w io.Writer, all []document.ReplayedCall) error {
	var b strings.Builder
	for _, one := range all {
		if one.Same {
			fmt.Fprintf(&b, "same     %s\n", text.Clean(one.Name))
			continue
		}
		fmt.Fprintf(&b, "differs  %s\n", text.Clean(one.Name))
		b.WriteString(differencesText(one, "    "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// differencesText are the differences of a call as a diff.
func differencesText(one document.ReplayedCall, indent string) string {
	var b strings.Builder
	for _, d := range one.Differences {
		diff := udiff.Unified("recorded "+d.What, "replayed "+d.What, withEnd(d.Recorded), withEnd(d.Replayed))
		for line := range strings.Lines(diff) {
			b.WriteString(indent + text.Clean(strings.TrimSuffix(line, "\n")) + "\n")
		}
	}
	return b.String()
}

func withEnd(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}
