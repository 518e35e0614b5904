// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/text"
)

// startFlag is a flag that counts when an environment is started.
type startFlag struct {
	name   string
	values func(*Flags) []string
	// path returns a value with its path made absolute, seen from a directory; nil for a flag without paths.
	path func(dir, value string) string
}

// startFlags are all but --yes, which consents and changes nothing, and --live, which a running environment says
// itself.
var startFlags = []startFlag{
	{"cluster", func(f *Flags) []string { return f.clusters }, nil},
	{"context", func(f *Flags) []string { return oneValue(f.context) }, nil},
	{"kubeconfig", func(f *Flags) []string { return oneValue(f.kubeconfig) }, absolute},
	{"node-image", func(f *Flags) []string { return oneValue(f.nodeImage) }, nil},
	{"kind-config", func(f *Flags) []string { return oneValue(f.kindConfig) }, absolute},
	{"export-kubeconfig", func(f *Flags) []string {
		if f.exportKubeconfig {
			return []string{"true"}
		}
		return nil
	}, nil},
	{localPodsFlag, func(f *Flags) []string { return []string{strconv.FormatBool(f.localPods)} }, nil},
	{"local-image", func(f *Flags) []string { return f.localImages }, absoluteLocalImage},
	{"sample", func(f *Flags) []string { return f.samples }, nil},
	{"plugin", func(f *Flags) []string { return f.plugins }, absoluteNamed},
	{"debug", func(f *Flags) []string { return f.debugged }, nil},
	{"plugin-config", func(f *Flags) []string { return f.pluginConfigs }, absoluteNamed},
	{pluginStartFlag, func(f *Flags) []string {
		if !ownPluginStart(f.pluginStart) {
			return nil
		}
		return []string{f.pluginStart.String()}
	}, nil},
	{"piped", func(f *Flags) []string { return oneValue(f.piped) }, absolute},
	{"break", func(f *Flags) []string { return f.breaks }, nil},
	{"piped-config", func(f *Flags) []string { return oneValue(f.pipedConfig) }, absolute},
}

// checkSame refuses what the user asks for beyond the running environment, which up attaches to. A value that no
// environment could be started with is refused for itself: the user would end the environment, and could not start the
// next one.
func (f *Flags) checkSame(ctx context.Context, w *workspace.Workspace, args []string) error {
	refused := checkSameRepository(ctx, w, args)
	if refused == nil {
		refused = f.checkSameStart(w, args)
	}
	if refused == nil {
		return nil
	}
	if err := f.checkInstead(ctx, w, args); err != nil {
		return err
	}
	return refused
}

// checkInstead is check for what startInstead recommends.
func (f *Flags) checkInstead(ctx context.Context, w *workspace.Workspace, args []string) error {
	running, err := w.Published()
	if err != nil || f.cmd == nil {
		return nil
	}
	was := startedWith(running)
	if was == nil {
		return f.check(ctx, w, args)
	}
	instead, dirs := f.instead(was, running, args)
	if instead == nil {
		return nil // they have been parsed before
	}
	return instead.check(ctx, w, dirs)
}

// instead returns the flags and the directory of an environment that takes the place of the running one: those of the
// user, and those of the running environment that do not contradict them. It is nil when they cannot be read.
func (f *Flags) instead(was *Flags, running *workspace.Running, args []string) (instead *Flags, dirs []string) {
	arguments, dirs := f.argumentsInstead(was, running, args)
	instead = &Flags{}
	command := &cobra.Command{}
	instead.Register(command)
	instead.registerLive(command)
	if err := command.ParseFlags(arguments); err != nil {
		return nil, nil
	}
	instead.cmd = f.cmd // hints name the command of the user
	return instead, dirs
}

// checkSameStart refuses flags that the running environment was not started with: up attaches to it, and the flags
// would change nothing. args is the repository that the user named, if any.
func (f *Flags) checkSameStart(w *workspace.Workspace, args []string) error {
	running, err := w.Published()
	if err != nil || f.cmd == nil {
		return nil // one that has published nothing yet is waited for later
	}
	was := startedWith(running)
	different := f.differences(running, was)
	if len(different) == 0 {
		return nil
	}
	return exit.Usage(different.error(w), different.nextStep(f, w, was, running, args))
}

// startedWith returns the flags that a running environment was started with; nil when they are of another version.
func startedWith(running *workspace.Running) *Flags {
	was := &Flags{}
	command := &cobra.Command{}
	was.Register(command)
	was.registerLive(command)
	if running.Restart == nil || command.ParseFlags(running.Restart.Arguments) != nil {
		return nil
	}
	was.cmd = command
	return was
}

// endFirst returns the command that ends a running environment, and says what the user loses with it.
func endFirst(w *workspace.Workspace) string {
	return "end it first, which deletes " + workspace.LossOf(w) + ": pipedeck down" + session.Flags(w)
}

// startInstead returns the command that starts the environment with the user's flags, and with those of the running
// environment that do not contradict them: on the repository that the user names, or else on the same one. was are the
// flags of the running environment; nil for flags that are not known.
func (f *Flags) startInstead(w *workspace.Workspace, was *Flags, running *workspace.Running, args []string) string {
	command := "pipedeck up" + session.Flags(w)
	arguments, dirs := f.argumentsInstead(was, running, args)
	for _, argument := range append(arguments, dirs...) {
		command += " " + text.ShellWord(argument)
	}
	return command
}

// argumentsInstead returns the flags and the directory of startInstead.
func (f *Flags) argumentsInstead(was *Flags, running *workspace.Running, args []string) (flags, dirs []string) {
	flags = f.changedArguments()
	if was == nil {
		return flags, args
	}
	flags = append(flags, f.keptArguments(was, running.Restart.Directory)...)
	switch {
	case len(args) > 0 || len(f.samples) > 0:
		return flags, args
	case len(was.samples) == 0:
		return flags, []string{absolute(running.Restart.Directory,
			cmp.Or(strings.Join(was.cmd.Flags().Args(), ""), "."))}
	}
	for _, sample := range was.samples {
		flags = append(flags, "--sample="+sample)
	}
	return flags, nil
}

// keptArguments returns the flags of the running environment that the user's flags do not replace, with absolute paths.
// --cluster replaces all flags of clusters, and --plugin and --plugin-config those of the same plugin.
func (f *Flags) keptArguments(was *Flags, dir string) (kept []string) {
	changed := f.cmd.Flags().Changed
	for _, flag := range startFlags {
		ofCluster := changed("cluster") && slices.Contains(clusterFlagNames, flag.name)
		if flag.name == "sample" || ofCluster || changed(flag.name) && !perPlugin(flag.name) {
			continue
		}
		given := map[string]bool{}
		for _, value := range flag.values(f) {
			name, _, _ := strings.Cut(value, "=")
			given[name] = true
		}
		for _, value := range flag.values(was) {
			name, _, _ := strings.Cut(value, "=")
			switch {
			case perPlugin(flag.name) && given[name]:
				continue
			case flag.name == localPodsFlag && value == "true":
				continue // it is the default
			case value == "true":
				kept = append(kept, "--"+flag.name)
				continue
			case flag.path != nil:
				value = flag.path(dir, value)
			}
			kept = append(kept, "--"+flag.name+"="+value)
		}
	}
	if was.live && !changed("live") {
		kept = append(kept, "--live")
	}
	if was.yes && !changed("yes") && !slices.ContainsFunc([]string{"cluster", "context", "kubeconfig"}, changed) {
		kept = append(kept, "--yes") // the consent was to this cluster
	}
	if was.checkout != "" && !changed("compile") {
		kept = append(kept, "--compile="+absolute(dir, was.checkout))
	}
	return kept
}

// clusterFlagNames are the flags of clusters that a new --cluster replaces.
var clusterFlagNames = []string{
	"context", "kubeconfig", "node-image", "kind-config", "export-kubeconfig", localPodsFlag, "local-image",
}

// changedArguments returns the flags that the user gave.
func (f *Flags) changedArguments() []string {
	if f.cmd == nil {
		return f.arguments()
	}
	return slices.DeleteFunc(f.arguments(), func(argument string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(argument, "--"), "=")
		return !f.cmd.Flags().Changed(name)
	})
}

// seenFrom returns the values of the flag with absolute paths.
func (s startFlag) seenFrom(dir string, f *Flags) []string {
	values := slices.Clone(s.values(f))
	for i, value := range values {
		if s.name == "cluster" && !strings.Contains(value, "=") {
			values[i] = workspace.TargetName + "=" + value
		}
		if s.path != nil {
			values[i] = s.path(dir, value)
		}
	}
	return values
}

// kinds returns what the clusters have become, such as the kind that auto has chosen, in the form of --cluster.
func kinds(clusters map[string]string) (all []string) {
	for name, kind := range clusters {
		all = append(all, name+"="+kind)
	}
	return all
}

func oneValue(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// absolute returns a path seen from a directory; "" is the working directory.
func absolute(dir, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}

// absoluteNamed is absolute for NAME=PATH; NAME=URL stays as it is.
func absoluteNamed(dir, value string) string {
	name, path, found := strings.Cut(value, "=")
	if !found || strings.Contains(path, "://") {
		return value
	}
	return name + "=" + absolute(dir, path)
}
