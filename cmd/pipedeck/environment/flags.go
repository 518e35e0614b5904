// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	sampleapps "github.com/pipedeck/pipedeck/sample-apps"

	"github.com/pipedeck/pipedeck/devenv/debugger"
	"github.com/pipedeck/pipedeck/devenv/gobuild"
	"github.com/pipedeck/pipedeck/devenv/helper"
	"github.com/pipedeck/pipedeck/devenv/ownpiped"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
)

// bundledPlugins are started in every environment, by the name they have in the configuration.
var bundledPlugins = []string{"kubernetes", "wait", "waitapproval", "scriptrun"}

// multiclusterPlugin is started besides in an environment of several clusters.
const multiclusterPlugin = "kubernetes_multicluster"

// kubernetesPlugins get the clusters as deploy targets. PipeCD's plugin for several clusters deploys to nothing without
// a word when it has none.
var kubernetesPlugins = []string{"kubernetes", multiclusterPlugin}

// Flags are the flags that say what an environment consists of.
type Flags struct {
	clusterFlags
	samples []string
	plugins []string
	// debugged are NAME or NAME=PORT.
	debugged []string
	// pluginConfigs are NAME=FILE.
	pluginConfigs []string
	piped         string
	// pipedConfig is the user's own piped configuration; empty for none. own is what was read of it.
	pipedConfig string
	own         *ownpiped.Config
	live        bool
	// faults are rules of package fault.
	faults []string
	// pluginStart is the time for a plugin to answer after its start; 0 is piped's default.
	pluginStart time.Duration
	// breaks are breakpoints as package breakpoint reads them.
	breaks []string
	// checkout is where the bundled programs are compiled from; empty when they are there.
	checkout string
	// onDemand are plugins that only some applications use; chooseSource fills it in.
	onDemand []string
}

// Register adds the flags to a command.
func (f *Flags) Register(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.clusterFlags.register(cmd)
	flags.StringArrayVar(&f.samples, "sample", nil,
		"use a sample repository with these applications, repeatable: "+strings.Join(sampleNames(), ", "))
	flags.StringArrayVar(&f.plugins, "plugin", nil,
		"add a plugin or replace a bundled one: NAME=PATH or NAME=URL; a directory with a Go package, or "+
			"with a "+pluginflag.ConfigName+" that has run, is built, and again when a file of it is saved")
	flags.StringArrayVar(&f.debugged, "debug", nil,
		"debug a plugin in Go with Delve: NAME or NAME=PORT, repeatable; it is built without optimisations, and no "+
			"clock runs at a breakpoint (default port "+strconv.Itoa(debugger.FirstPort)+")")
	flags.StringArrayVar(&f.pluginConfigs, "plugin-config", nil,
		"configure a plugin: NAME=FILE with the keys config, deployTargets, stages and limits of the piped "+
			"configuration (default for a plugin that is built: "+pluginflag.ConfigName+" in its directory)")
	flags.StringVar(&f.piped, "piped", "", "run this piped v1 program instead of the included one")
	flags.StringVar(&f.pipedConfig, "piped-config", "",
		"`FILE` with your own piped configuration: repositories, notifications, eventWatcher, secretManagement, "+
			"plugins and the rest are taken over; what the environment has itself is not, and is named")
	flags.StringArrayVar(&f.faults, "fault", nil,
		"have a fault happen on purpose: 'TARGET: ACTION; …', repeatable, with the actions kill@log N, delay TIME, "+
			"unavailable N, hang, status STATUS and flood N; also for 'cluster' and 'control-plane'")
	flags.DurationVar(&f.pluginStart, pluginStartFlag, pluginhost.DefaultStartTimeout,
		"time for a plugin to answer after its start, from 1s to 1h")
	flags.StringArrayVar(&f.breaks, "break", nil,
		"pause deployments at a stage until you go on with pipedeck continue: 'before STAGE', 'after STAGE' or "+
			"'failure [STAGE]', repeatable; STAGE is an id, a type or *, also as APP/STAGE")
	flags.StringVar(&f.checkout, "compile", "", "compile the included programs from this checkout of pipedeck")
	_ = flags.MarkHidden("compile") // for make up; the flag exists
}

// AddPlugin adds a plugin as --plugin does.
func (f *Flags) AddPlugin(given string) { f.plugins = append(f.plugins, given) }

// PipedConfig returns the user's own piped configuration; empty for none.
func (f *Flags) PipedConfig() string { return f.pipedConfig }

// registerLive is for the commands that keep an environment up.
func (f *Flags) registerLive(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.live, "live", false, "deploy the working tree as it is on disk, whenever a file is saved")
}

// arguments gives the flags to another pipedeck process.
func (f *Flags) arguments() []string {
	args := f.clusterFlags.arguments()
	for _, s := range f.samples {
		args = append(args, "--sample="+s)
	}
	for _, p := range f.plugins {
		args = append(args, "--plugin="+p)
	}
	for _, d := range f.debugged {
		args = append(args, "--debug="+d)
	}
	for _, c := range f.pluginConfigs {
		args = append(args, "--plugin-config="+c)
	}
	if f.piped != "" {
		args = append(args, "--piped="+f.piped)
	}
	if f.pipedConfig != "" {
		args = append(args, "--piped-config="+f.pipedConfig)
	}
	for _, rule := range f.faults {
		args = append(args, "--fault="+rule)
	}
	if ownPluginStart(f.pluginStart) {
		args = append(args, "--"+pluginStartFlag+"="+f.pluginStart.String())
	}
	for _, b := range f.breaks {
		args = append(args, "--break="+b)
	}
	if f.live {
		args = append(args, "--live")
	}
	if f.checkout != "" {
		args = append(args, "--compile="+f.checkout)
	}
	return args
}

func sampleNames() []string { return sampleapps.Names() }

// source says which repository the environment watches.
type source struct {
	// dir is the user's repository; empty for a sample repository.
	dir     string
	samples []sampleapps.Sample
}

// chooseSource follows the rule of `up [DIR]`: the given directory; else samples when they are
// asked for; else the repository around the working directory, which has to hold application
// configurations. A directory that cannot be watched is an error; a sample never takes its place.
func (f *Flags) chooseSource(args []string) (*source, error) {
	from, err := chosen(f, args)
	if err != nil {
		return nil, err
	}
	f.onDemand, err = needed(from)
	return from, err
}

func chosen(f *Flags, args []string) (*source, error) {
	if len(args) == 1 && f.isDefault("sample") {
		f.samples = nil // what the user names counts
	}
	if len(args) == 1 {
		if len(f.samples) > 0 {
			return nil, exit.Usage(errors.New("give a directory or --sample, not both"),
				"see "+f.command()+" --help")
		}
		repository, err := workspace.OpenRepository(args[0])
		if err != nil {
			return nil, err
		}
		return &source{dir: repository.Root}, nil
	}
	if len(f.samples) == 0 {
		return aroundWorkingDirectory()
	}
	s := &source{}
	for _, name := range f.samples {
		sample, err := sampleapps.Find(name)
		if err != nil {
			return nil, exit.Usage(err, f.command()+" --sample "+sampleNames()[0])
		}
		s.samples = append(s.samples, sample)
	}
	return s, nil
}

// aroundWorkingDirectory is the repository that the user is in.
func aroundWorkingDirectory() (*source, error) {
	sample := "try a sample: add --sample " + sampleNames()[0]
	repository, err := workspace.OpenRepository(".")
	if problem := (*workspace.RepositoryError)(nil); errors.As(err, &problem) {
		return nil, exit.Usage(err, "give the directory of a repository; or "+problem.Hint+"; or "+sample)
	}
	if err != nil {
		return nil, exit.Usage(err, "give the directory of another repository; or "+sample)
	}
	if len(repository.Applications) == 0 {
		return nil, exit.Usage(fmt.Errorf("%s has no application at HEAD", repository.Root),
			"write one with: pipedeck init; or commit an app.pipecd.yaml; or give the directory of another "+
				"repository; or "+sample)
	}
	return &source{dir: repository.Root}, nil
}

// open opens the repository or makes the sample one.
func (s *source) open(w *workspace.Workspace) (*workspace.Repository, error) {
	if s.dir != "" {
		return workspace.OpenRepository(s.dir)
	}
	samples := make([]workspace.Sample, 0, len(s.samples))
	for _, sample := range s.samples {
		samples = append(samples, sample)
	}
	repository, err := w.EnsureSample(samples...)
	if err != nil {
		return nil, err
	}
	repository.EditHint = s.samples[0].EditHint
	return repository, nil
}

// programs returns the agent and the plugins, each checked to be there.
func (f *Flags) programs(w *workspace.Workspace) (piped string, plugins []workspace.Plugin, err error) {
	bin, err := pluginflag.ProgramDir()
	if err != nil {
		return "", nil, err
	}
	piped = filepath.Join(bin, "piped")
	if f.piped != "" {
		piped = absolute("", f.piped) // it is started in another directory
	}
	if f.checkout == "" || f.piped != "" {
		if err := pluginflag.CheckProgram("piped", piped, "build it with: make build"); err != nil {
			return "", nil, err
		}
	}
	if plugins, err = f.pluginList(bin); err != nil {
		return "", nil, err
	}
	if err := onThisMachine(plugins, w); err != nil {
		return "", nil, err
	}
	if err := withSampleMetrics(plugins, f.samples); err != nil {
		return "", nil, err
	}
	for i, p := range plugins {
		if p.Source != "" {
			plugins[i].URL = (&url.URL{Scheme: "file", Path: w.PluginProgram(p.Name)}).String()
			continue
		}
		if path, ok := strings.CutPrefix(p.URL, "file://"); ok {
			hint := "give a program or the directory of a plugin: --plugin " + p.Name + "=PATH"
			if path == bundledProgram(bin, p.Name) {
				hint = "build the bundled ones with: make build"
				if f.checkout != "" {
					continue
				}
			}
			if err := pluginflag.CheckProgram("plugin "+p.Name, path, hint); err != nil {
				return "", nil, err
			}
		}
	}
	return piped, plugins, nil
}

// bundledProgram is where a bundled plugin lies.
func bundledProgram(bin, name string) string { return filepath.Join(bin, "plugins", name) }

// compilation is what the flags want to be compiled; nil for nothing.
func (f *Flags) compilation() (*gobuild.Programs, error) {
	if f.checkout == "" {
		return nil, nil
	}
	bin, err := pluginflag.ProgramDir()
	if err != nil {
		return nil, err
	}
	plugins := gobuild.Folder{Output: filepath.Join(bin, "plugins")}
	for _, name := range f.bundled() {
		plugins.Packages = append(plugins.Packages, "./plugins/"+name)
	}
	folder := func(program string) gobuild.Folder {
		return gobuild.Folder{Output: bin, Packages: []string{"./cmd/" + program}}
	}
	// Clusters of kind take long to make, and wait for the helper.
	return gobuild.NewPrograms(f.checkout, []gobuild.Folder{folder(helper.Program), folder("piped"), plugins}), nil
}

// bundled returns the names of the bundled plugins that the environment needs.
func (f *Flags) bundled() []string {
	names := slices.Clone(bundledPlugins)
	if len(f.clusters) > 1 {
		names = append(names, multiclusterPlugin)
	}
	return append(names, demanded(f)...)
}

// pluginList is the bundled plugins and those that were given, in place of them or besides.
func (f *Flags) pluginList(bin string) ([]workspace.Plugin, error) {
	var plugins []workspace.Plugin
	for _, name := range f.bundled() {
		plugin := bundledPlugin(bin, name)
		if name == "wait" {
			// PipeCD's WAIT cannot be skipped, so ours offers it only on request.
			plugin.Config = map[string]any{"allowSkip": true}
		}
		plugins = append(plugins, plugin)
	}
	// PipeCD's rule: a deployment plugin without a target refuses to start.
	if f.none() {
		plugins = plugins[1:]
	}
	for _, given := range f.plugins {
		plugin, err := pluginflag.Parse(given)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(plugins, func(p workspace.Plugin) bool { return p.Name == plugin.Name }); i >= 0 {
			plugins[i].URL, plugins[i].Source, plugins[i].DefaultMemory = plugin.URL, plugin.Source, ""
		} else {
			plugins = append(plugins, plugin)
		}
	}
	if err := f.configure(plugins); err != nil {
		return nil, err
	}
	for i, p := range plugins {
		plugins[i].Kubernetes = slices.Contains(kubernetesPlugins, p.Name) && !f.none() && len(p.DeployTargets) == 0
	}
	plugins, err := f.withOwn(plugins, bin)
	if err != nil {
		return nil, err
	}
	if err := reattached(plugins, f.piped); err != nil || len(f.debugged) == 0 {
		return plugins, err
	}
	return plugins, debug(plugins, f.debugged)
}

// bundledPlugin is a plugin that comes with pipedeck.
func bundledPlugin(bin, name string) workspace.Plugin {
	return workspace.Plugin{Name: name, URL: "file://" + bundledProgram(bin, name), DefaultMemory: bundledMemory(name)}
}

// bundledMemory is the memory limit of a bundled plugin, far above what it needs. The programs that a plugin starts
// count, so that the scripts of users would be held to the limit of scriptrun: it has none.
func bundledMemory(name string) string {
	switch {
	case slices.Contains(kubernetesPlugins, name):
		return "1Gi"
	case name == "scriptrun", name == "terraform":
		return ""
	}
	return "256Mi"
}
