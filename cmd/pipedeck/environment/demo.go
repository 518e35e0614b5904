// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/defaults"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/demo"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/story"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
	sampleapps "github.com/pipedeck/pipedeck/sample-apps"
	"github.com/pipedeck/pipedeck/system/inputfile"
	"github.com/pipedeck/pipedeck/tui/page"
)

// demoFlags are the flags of demo.
type demoFlags struct {
	Flags
	look       *look
	output     string
	auto, fast bool
	list       bool
	print      string
}

func newDemoCommand(t *session.Target) *cobra.Command {
	f := &demoFlags{look: &look{recording: &recording{}}}
	cmd := &cobra.Command{
		Use: "demo [STORY|FILE]", Short: "Play a story on a real environment", Args: cobra.MaximumNArgs(1),
		Long: `Start a separate environment, play a story on it, and remove it. Each step of a story has a caption above
the keys; the commits, the deployments and the failures are real. The key . goes on with the next step; with --auto,
and without a terminal, the story goes on by itself.

A story is a file that can be copied and changed: --print prints one, and pipedeck validate checks it.

Exit code 0: all that the story awaited came; 1: a step failed; 2: wrong usage or a mistake in the story; 3: the
environment could not start; 130: you left before the end.` + storiesHelp(),
		Example: `  pipedeck demo
  pipedeck demo failure --auto
  pipedeck demo --print tour > my-story.yaml
  pipedeck demo my-story.yaml
  pipedeck demo --serve-web
  pipedeck demo tour --auto --fast --record tour.pipedeck`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 0 && (f.list || f.print != ""):
				return exit.Usage(fmt.Errorf("--list and --print play no story; they do not take %q", args[0]),
					"print a story: pipedeck demo --print tour")
			case f.list:
				return listStories(cmd.OutOrStdout())
			case f.print != "":
				return printStory(cmd.OutOrStdout(), f.print)
			}
			return f.run(cmd, t, args)
		},
	}
	f.look.register(cmd)
	f.look.recording.register(cmd)
	registerDemo(&f.Flags, cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.output, "output", "auto", "tui, plain, reader (sentences); auto: $PIPEDECK_OUTPUT, else "+
		"tui on a terminal, plain elsewhere")
	flags.BoolVar(&f.auto, "auto", false, "go on without a key, after the time to read the caption")
	flags.BoolVar(&f.fast, "fast", false, "with --auto, go on at once")
	flags.BoolVar(&f.list, "list", false, "list the stories")
	flags.StringVar(&f.print, "print", "", "print the file of the story `NAME`")
	cmd.MarkFlagsMutuallyExclusive("list", "print")
	return cmd
}

// run plays a story.
func (f *demoFlags) run(cmd *cobra.Command, t *session.Target, args []string) (err error) {
	mode, err := ChooseOutput(f.output, true)
	if err != nil {
		return err
	}
	if mode == outputJSON {
		return exit.Usage(errors.New("a story is not shown as JSON"),
			"use --output plain, or record it and replay that: --record FILE")
	}
	if err := f.look.read(mode); err != nil {
		return err
	}
	played, err := openStory(cmd.Context(), args)
	if err != nil {
		return err
	}
	if err := checkStoryBuild(); err != nil {
		return err
	}
	plugin, err := findStoryPlugin(cmd.Context(), played.Plugin)
	if err != nil {
		return err
	}
	if !defaults.GivenForCommand(cmd.Flags().Lookup("name")) {
		t.Name = storyPrefix + uuid.NewString()[:8] // its own, as that of ci
	}
	f.samples = []string{played.Sample}
	s := &Setup{Target: t, Flags: &f.Flags, Mode: mode, recording: f.look.recording, Out: cmd.OutOrStdout(),
		Err: cmd.ErrOrStderr()}
	w, err := s.checkDemo(cmd.Context())
	if err != nil {
		return err
	}
	nameLeftStories(w, cmd.ErrOrStderr())
	if err := f.look.recording.create(); err != nil {
		return err
	}
	f.look.recording.prints(mode, cmd.OutOrStdout())
	defer func() { err = f.look.recording.finish(cmd.ErrOrStderr(), err) }()
	if err := f.look.shareEnvironment(cmd.Context(), w, page.ModeDemo); err != nil {
		return err
	}
	defer f.look.shared.Close()
	if mode != outputTUI {
		if err := f.look.announce(mode, s.Out); err != nil {
			return err
		}
	}
	d := &demonstration{Setup: s, story: played, plugin: plugin, workspace: w, auto: f.auto || f.fast,
		fast: f.fast}
	return exit.Explain(cmd.Context(), d.run(cmd.Context(), f.look))
}

// storyPrefix begins the names of the environments of stories.
const storyPrefix = "demo-"

var storyName = regexp.MustCompile(`^` + storyPrefix + `[0-9a-f]{8}$`)

// nameLeftStories names environments of earlier stories whose process was killed, so that nothing has removed them.
func nameLeftStories(w *workspace.Workspace, out io.Writer) {
	found, _, err := workspace.List(filepath.Dir(w.Dir))
	if err != nil {
		return // the story's own environment meets the same trouble, and reports it
	}
	for _, other := range found {
		if alive, err := other.Alive(); err != nil || alive || !storyName.MatchString(other.Name) {
			continue
		}
		fmt.Fprintf(out, "environment %q is left of a story that was killed; remove it: pipedeck down%s\n", other.Name,
			session.Flags(other))
	}
}

// checkDemo finds what would keep the environment of a story from starting. A story changes what is in its cluster, so
// it gets one that is made for it.
func (s *Setup) checkDemo(ctx context.Context) (w *workspace.Workspace, err error) {
	if w, err = s.Target.Workspace(); err != nil {
		return nil, err
	}
	exists, err := w.Exists()
	switch {
	case err != nil:
		return nil, err
	case exists:
		return nil, exit.Usage(fmt.Errorf("environment %q is there already; a story needs a new one", w.Name),
			"choose another --name, or none")
	}
	clusters, err := s.Flags.clusterFlags.parse()
	if err != nil {
		return nil, err
	}
	metrics, err := bringsMetrics(s.Flags.samples)
	if err != nil {
		return nil, err
	}
	needsCluster := slices.ContainsFunc(sampleapps.All(), func(a sampleapps.Sample) bool {
		return slices.Contains(s.Flags.samples, a.Name) && !a.Clusterless
	})
	for _, c := range clusters {
		switch {
		case needsCluster && c.kind == cluster.None:
			return nil, exit.Usage(errors.New("the story needs a cluster; --cluster none provides none"),
				"use --cluster embedded or --cluster kind")
		case metrics && c.kind == clusterAuto:
			s.Flags.clusters = []string{string(cluster.Embedded)}
		case metrics && c.kind == cluster.InDocker:
			return nil, exit.Usage(errors.New("the story measures its pods on this machine, which needs the embedded "+
				"cluster"), "use --cluster embedded")
		case c.kind == cluster.Existing:
			return nil, exit.Usage(errors.New("a story changes its cluster, so it does not use an existing one"),
				"use --cluster embedded or --cluster kind")
		}
	}
	return w, s.Flags.check(ctx, w, nil)
}

// openStory reads the story that the user names; the first one without a name.
func openStory(ctx context.Context, args []string) (*story.Story, error) {
	name := story.Names()[0]
	if len(args) == 1 {
		name = args[0]
	}
	if !strings.ContainsAny(name, "./"+string(filepath.Separator)) {
		played, err := story.Builtin(name, demo.Samples())
		if err != nil {
			return nil, exit.Usage(err, "name one of these, or a file such as ./my-story.yaml")
		}
		return played, nil
	}
	content, err := inputfile.Read(ctx, name, config.MaxSize+1)
	if err != nil {
		return nil, exit.Usage(err, "name a file with a story, or one of: "+strings.Join(story.Names(), ", "))
	}
	played, err := story.Parse(content, name, demo.Samples())
	if err != nil {
		return nil, exit.Usage(err, "correct the file; docs/demo.md lists the keys of a story")
	}
	return played, nil
}

func listStories(out io.Writer) error {
	for _, name := range story.Names() {
		s, err := story.Builtin(name, demo.Samples())
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%-10s %s\n", name, s.Title); err != nil {
			return err
		}
	}
	return nil
}

func printStory(out io.Writer, name string) error {
	content, err := story.Source(name)
	if err != nil {
		return exit.Usage(err, "see pipedeck demo --list")
	}
	_, err = out.Write(content)
	return err
}

// storiesHelp lists the stories, a line each, for the help of the command.
func storiesHelp() string {
	var help strings.Builder
	if err := listStories(&help); err != nil {
		return "" // a test reads them all
	}
	list := strings.ReplaceAll(strings.TrimSpace(help.String()), "\n", "\n  ")
	return "\n\nStories; the first one is the default:\n  " + list
}

// registerDemo adds the flags of an environment that is made for a story.
func registerDemo(f *Flags, cmd *cobra.Command) {
	f.clusterFlags.engine, f.clusterFlags.cmd = newEngine(), cmd
	f.localPods = true
	cmd.Flags().StringArrayVar(&f.clusters, "cluster", []string{string(clusterAuto)}, clusterHelp)
	cmd.Flags().StringVar(&f.nodeImage, "node-image", "", "node image for kind")
	cmd.Flags().StringVar(&f.checkout, "compile", "", "compile the included programs from this checkout of pipedeck")
	_ = cmd.Flags().MarkHidden("compile") // for make; the flag exists
}
