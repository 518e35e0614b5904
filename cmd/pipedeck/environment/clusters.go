// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/defaults"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/auto"
	"github.com/pipedeck/pipedeck/devenv/cluster/embedded"
	"github.com/pipedeck/pipedeck/devenv/cluster/engine"
	"github.com/pipedeck/pipedeck/devenv/cluster/kind/record"
	"github.com/pipedeck/pipedeck/devenv/cluster/none"
	"github.com/pipedeck/pipedeck/devenv/env"
	"github.com/pipedeck/pipedeck/devenv/helper"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/inputfile"
)

// clusterAuto stands for the best kind of cluster that this machine can run.
const clusterAuto = auto.Kind

// maxClusters bounds what one environment asks of a machine.
const maxClusters = 8

// clusterFlags are the flags that say where applications are deployed to.
type clusterFlags struct {
	clusters         []string
	context          string
	kubeconfig       string
	nodeImage        string
	kindConfig       string
	exportKubeconfig bool
	yes              bool
	localPods        bool
	// localImages are IMAGE=PROGRAM with options.
	localImages []string
	// cmd has the flags; nil for none.
	cmd *cobra.Command
	// before is called before the embedded Kubernetes is compiled; may be nil.
	before func(context.Context) error
	// helper does what this program is compiled without. run sets it.
	helper *helper.Helper
	// engine is asked once, whoever needs to know.
	engine *engine.Finder
}

func (f *clusterFlags) register(cmd *cobra.Command) {
	f.engine = newEngine()
	f.cmd = cmd
	flags := cmd.Flags()
	flags.StringArrayVar(&f.clusters, "cluster", []string{string(clusterAuto)}, clusterHelp)
	flags.StringVar(&f.context, "context", "", "context of the existing cluster (default: the current one)")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "",
		"kubeconfig of the existing cluster (default: the one that kubectl uses)")
	flags.StringVar(&f.nodeImage, "node-image", "", "node image for kind")
	flags.StringVar(&f.kindConfig, "kind-config", "",
		"configuration file for kind; pipedeck still sets name and kubeconfig")
	flags.BoolVar(&f.exportKubeconfig, "export-kubeconfig", false,
		"also make the kind cluster the current context of your kubeconfig; down undoes it")
	flags.BoolVar(&f.localPods, localPodsFlag, true,
		"on the embedded cluster, run the images that are built here as processes; false: every pod is simulated")
	flags.StringArrayVar(&f.localImages, "local-image", nil,
		"on the embedded cluster, run an image as this program: IMAGE=PROGRAM[,port][,may-run=PROGRAM]\n"+
			"(port: it listens on $PORT; may-run: manifests may name that program, too, or * for any);\n"+
			"without PROGRAM for images that are built here")
	flags.BoolVar(&f.yes, "yes", false, "use an existing cluster that does not look like one for development")
}

// clusterHelp describes --cluster; of several commands it has one variable, and so one description.
const clusterHelp = "cluster to deploy to: kind, embedded (Kubernetes API, local processes), existing (see " +
	"--context), none, or auto:\nkind when a container engine answers, else embedded; repeat as NAME=KIND for several"

func newEngine() *engine.Finder { return engine.NewFinder(engine.Run, os.Getenv(engine.Variable)) }

// arguments gives the flags to another pipedeck process.
func (f *clusterFlags) arguments() []string {
	var args []string
	for _, c := range f.clusters {
		args = append(args, "--cluster="+c)
	}
	for _, given := range []struct{ name, value string }{
		{"context", f.context}, {"kubeconfig", f.kubeconfig}, {"node-image", f.nodeImage},
		{"kind-config", f.kindConfig},
	} {
		if given.value != "" {
			args = append(args, "--"+given.name+"="+given.value)
		}
	}
	if f.exportKubeconfig {
		args = append(args, "--export-kubeconfig")
	}
	if f.yes {
		args = append(args, "--yes")
	}
	if f.cmd != nil && !f.localPods {
		args = append(args, "--local-pods=false")
	}
	for _, image := range f.localImages {
		args = append(args, "--local-image="+image)
	}
	return args
}

// command returns the command that the user gave the flags to.
func (f *clusterFlags) command() string {
	if f.cmd == nil {
		return "pipedeck up"
	}
	return f.cmd.CommandPath()
}

// namedKind is one --cluster flag.
type namedKind struct {
	name string
	kind cluster.Kind
}

// parse reads the --cluster flags; each problem is the user's.
func (f *clusterFlags) parse() ([]namedKind, error) {
	if len(f.clusters) > maxClusters {
		return nil, exit.Usage(fmt.Errorf("%d clusters are too many", len(f.clusters)),
			fmt.Sprintf("use at most %d", maxClusters))
	}
	var parsed []namedKind
	for _, given := range f.clusters {
		name, kind, named := strings.Cut(given, "=")
		switch {
		case !named:
			name, kind = workspace.TargetName, given
		case workspace.CheckClusterName(name) != nil:
			return nil, exit.Usage(workspace.CheckClusterName(name),
				"for example --cluster dev=kind --cluster prod=kind")
		}
		known := []cluster.Kind{cluster.InDocker, cluster.Embedded, cluster.Existing, cluster.None, clusterAuto}
		if !slices.Contains(known, cluster.Kind(kind)) {
			return nil, exit.Usage(fmt.Errorf("--cluster %q is unknown", kind),
				"use kind, embedded, existing, none or auto")
		}
		if slices.ContainsFunc(parsed, func(n namedKind) bool { return n.name == name }) {
			return nil, exit.Usage(fmt.Errorf("two clusters have the name %q", name),
				"for example --cluster dev=kind --cluster prod=kind")
		}
		parsed = append(parsed, namedKind{name, cluster.Kind(kind)})
	}
	f.dropDefaults(parsed)
	return parsed, f.checkCombination(parsed)
}

// isDefault reports whether a flag has its value from a variable or from the configuration file.
func (f *clusterFlags) isDefault(name string) bool {
	if f.cmd == nil {
		return false
	}
	flag := f.cmd.Flags().Lookup(name)
	return defaults.Set(flag) && !flag.Changed
}

// dropDefaults clears defaults that are for other kinds of clusters than those that were chosen, such as the context of
// a user who mostly deploys to an existing cluster.
func (f *clusterFlags) dropDefaults(parsed []namedKind) {
	has := func(kinds ...cluster.Kind) bool {
		return slices.ContainsFunc(parsed, func(n namedKind) bool { return slices.Contains(kinds, n.kind) })
	}
	existing, inDocker := has(cluster.Existing), has(cluster.InDocker, clusterAuto)
	for _, flag := range []struct {
		name  string
		fits  bool
		clear func()
	}{
		{"context", existing, func() { f.context = "" }},
		{"kubeconfig", existing, func() { f.kubeconfig = "" }},
		{"node-image", inDocker, func() { f.nodeImage = "" }},
		{"kind-config", inDocker, func() { f.kindConfig = "" }},
		{"export-kubeconfig", inDocker, func() { f.exportKubeconfig = false }},
		{"local-image", has(cluster.Embedded, clusterAuto), func() { f.localImages = nil }},
	} {
		if !flag.fits && f.isDefault(flag.name) {
			flag.clear()
		}
	}
}

// checkCombination finds flags that contradict each other.
func (f *clusterFlags) checkCombination(parsed []namedKind) error {
	has := func(kinds ...cluster.Kind) bool {
		return slices.ContainsFunc(parsed, func(n namedKind) bool { return slices.Contains(kinds, n.kind) })
	}
	switch {
	case has(cluster.None) && len(parsed) > 1:
		return exit.Usage(errors.New("--cluster none stands for no cluster at all"), "leave it out")
	case (f.context != "" || f.kubeconfig != "") && !has(cluster.Existing):
		return exit.Usage(errors.New("--context and --kubeconfig name an existing cluster"), "add --cluster existing")
	case (f.nodeImage != "" || f.kindConfig != "" || f.exportKubeconfig) && !has(cluster.InDocker, clusterAuto):
		return exit.Usage(errors.New("--node-image, --kind-config and --export-kubeconfig are for kind"),
			"add --cluster kind")
	case len(f.localImages) > 0 && !has(cluster.Embedded, clusterAuto):
		return exit.Usage(errors.New("--local-image is for the embedded cluster"), "add --cluster embedded")
	case len(f.localImages) > 0 && !f.localPods:
		return exit.Usage(errors.New("--local-image and --local-pods=false contradict each other"), "leave one out")
	}
	if _, err := f.mapped(); err != nil {
		return err
	}
	if f.kindConfig == "" {
		return nil
	}
	file, err := inputfile.Open(f.kindConfig)
	if err != nil {
		return exit.Usage(fmt.Errorf("--kind-config: %w", err),
			"name a configuration file of kind, or leave the flag out")
	}
	return file.Close()
}

// severalClusters is the next step when one of the mistakes is that the plugin for several clusters is missing, which
// only an environment of several has; empty otherwise.
func severalClusters(mistakes ...error) string {
	for _, err := range mistakes {
		if strings.Contains(err.Error(), multiclusterPlugin) && strings.Contains(err.Error(), "is not in the plugins") {
			return "the plugin " + multiclusterPlugin + " comes with several clusters: --cluster one=embedded " +
				"--cluster two=embedded"
		}
	}
	return ""
}

// none reports whether there is no cluster at all.
func (f *clusterFlags) none() bool {
	return len(f.clusters) == 1 && f.clusters[0] == string(cluster.None)
}

// make returns the clusters of an environment; nothing is started.
func (f *clusterFlags) make(w *workspace.Workspace, logger *slog.Logger) ([]env.Cluster, error) {
	parsed, err := f.parse()
	if err != nil {
		return nil, err
	}
	var clusters []env.Cluster
	for _, c := range parsed {
		clusters = append(clusters, env.Cluster{Name: c.name, New: func(hooks env.Hooks) (cluster.Provider, error) {
			return f.provider(w, c, hooks, logger)
		}})
	}
	return clusters, nil
}

func (f *clusterFlags) provider(w *workspace.Workspace, c namedKind, hooks env.Hooks,
	logger *slog.Logger) (cluster.Provider, error) {
	if dir := w.ClusterDir(c.name); c.kind != cluster.InDocker && c.kind != clusterAuto && record.Recorded(dir) {
		return nil, exit.Usage(fmt.Errorf("this environment has a kind cluster already, not one by --cluster %s",
			c.kind),
			"choose another --name, or "+endFirst(w))
	}
	switch c.kind {
	case cluster.None:
		return none.Provider{}, nil
	case cluster.Embedded:
		return f.embedded(w, c.name, hooks, logger)
	case clusterAuto:
		return f.auto(w, c.name, hooks, logger)
	case cluster.Existing:
		return f.helper.Existing(f.existingContext(), w.Kubeconfig(c.name)), nil
	case cluster.InDocker:
		return f.kind(w, c.name, hooks), nil
	default:
		return nil, exit.Usage(fmt.Errorf("--cluster %s is not in this version", c.kind), "use --cluster embedded")
	}
}

func (f *clusterFlags) embedded(w *workspace.Workspace, name string, hooks env.Hooks,
	logger *slog.Logger) (cluster.Provider, error) {
	program, err := embedded.NewProgram()
	if err != nil {
		return nil, err
	}
	program.Before = f.before
	mapped, err := f.mapped()
	if err != nil {
		return nil, err
	}
	return embedded.New(embedded.Config{
		Program: program, Dir: w.ClusterDir(name), Kubeconfig: w.Kubeconfig(name), LogFile: w.ClusterLog(name),
		Started: hooks.Started, LocalPods: f.localPods, Mapped: mapped, Logger: logger,
	}), nil
}

func (f *clusterFlags) kind(w *workspace.Workspace, name string, hooks env.Hooks) cluster.Provider {
	return f.helper.Kind(helper.KindConfig{
		Environment: w.Name, Cluster: name, Dir: w.ClusterDir(name), Kubeconfig: w.Kubeconfig(name),
		LogFile:   w.ClusterLog(name),
		NodeImage: f.nodeImage, File: f.kindConfig, Export: f.exportKubeconfig, TakesImages: hooks.TakesImages,
	})
}

func (f *clusterFlags) auto(w *workspace.Workspace, name string, hooks env.Hooks,
	logger *slog.Logger) (cluster.Provider, error) {
	without, err := f.embedded(w, name, hooks, logger)
	if err != nil {
		return nil, err
	}
	return auto.New(auto.Config{
		Kind: f.kind(w, name, hooks), Embedded: without, Engine: f.engine.Find,
		Dir: w.ClusterDir(name), Kubeconfig: w.Kubeconfig(name), Recorded: record.Recorded, Logger: logger,
	}), nil
}

// existingContext is the context that the flags name.
func (f *clusterFlags) existingContext() helper.Context {
	return helper.Context{File: f.kubeconfig, Name: f.context, Any: f.yes}
}

// checkExisting returns why the context that the flags name cannot be used. It does so once the helper is compiled.
func (f *clusterFlags) checkExisting(ctx context.Context) error {
	h, err := newHelper("", nil)
	if err != nil {
		return err
	}
	defer h.Close()
	err = h.CheckContext(ctx, f.existingContext())
	if err == nil || ctx.Err() != nil {
		return err
	}
	hint := "see " + f.command() + " --help for --context"
	if known := (*cluster.HintError)(nil); errors.As(err, &known) {
		hint = cmp.Or(known.Hint, hint)
	}
	return exit.Usage(err, hint)
}
