// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/devenv/env"
	"github.com/pipedeck/pipedeck/devenv/ownpiped"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/config/options"
	"github.com/pipedeck/pipedeck/piped/notifier"
)

// readOwn reads the user's own piped configuration; nil when there is none. The file is read once.
func (f *Flags) readOwn() (*ownpiped.Config, error) {
	if f.pipedConfig == "" || f.own != nil {
		return f.own, nil
	}
	known, err := pluginflag.Known()
	if err != nil {
		return nil, err
	}
	checker := &options.Checker{Catalogue: known}
	own, err := ownpiped.Read(f.pipedConfig, ownpiped.Surroundings{
		Bundled: slices.Concat(bundledPlugins, []string{multiclusterPlugin}, onDemandPlugins), Given: names(f.plugins),
		Clusters: f.targets(), OnClusters: kubernetesPlugins, Foreign: f.piped != "",
		Check: func(report *config.Report) {
			checker.CheckOptions(report)
			checkTemplates(report)
		},
	})
	if mistakes := (config.Errors)(nil); errors.As(err, &mistakes) {
		return nil, exit.Usage(err, "correct the file, and run it again")
	}
	if err != nil {
		return nil, exit.Usage(err, "give the file of a piped configuration: --piped-config piped.yaml")
	}
	f.own = own
	return own, nil
}

// checkTemplates tries the templates of notifications, which piped does before it starts.
func checkTemplates(report *config.Report) {
	for i, receiver := range report.Piped.Notifications.Receivers {
		if err := notifier.CheckTemplate(receiver.Template); err != nil {
			report.Add(fmt.Sprintf("spec.notifications.receivers[%d].template", i), err.Error())
		}
	}
}

// targets are the names of the clusters as deploy targets.
func (f *Flags) targets() (all []string) {
	parsed, err := f.clusterFlags.parse()
	if err != nil || f.none() {
		return nil // which is reported elsewhere
	}
	for _, one := range parsed {
		all = append(all, one.name)
	}
	return all
}

// names returns the names of NAME=VALUE.
func names(given []string) (all []string) {
	for _, one := range given {
		name, _, _ := strings.Cut(one, "=")
		all = append(all, name)
	}
	return all
}

// withOwn merges the plugins of the user's own configuration into those of the environment.
func (f *Flags) withOwn(plugins []workspace.Plugin, bin string) ([]workspace.Plugin, error) {
	own, err := f.readOwn()
	if err != nil || own == nil {
		return plugins, err
	}
	return own.Plugins(plugins, func(name string) (workspace.Plugin, bool) {
		bundled := slices.Contains(bundledPlugins, name) || name == multiclusterPlugin ||
			slices.Contains(onDemandPlugins, name)
		plugin := bundledPlugin(bin, name)
		plugin.Kubernetes = slices.Contains(kubernetesPlugins, name) && !f.none()
		return plugin, bundled
	}, names(f.pluginConfigs))
}

// pipedOptions say what piped is. The file of the user's own configuration has been read.
func (f *Flags) pipedOptions(piped string, plugins []workspace.Plugin) env.PipedOptions {
	options := env.PipedOptions{
		Piped: piped, ForeignPiped: f.piped != "", Plugins: plugins, Faults: f.faults, PluginStart: f.pluginStart,
		Breakpoints: breakpointsOf(f.breaks),
		Develop: func(name, directory string, former *workspace.Plugin) (workspace.Plugin, error) {
			return develop(f, name, directory, former)
		},
	}
	if f.own != nil {
		options.PipedDir = f.own.Dir
		options.PipedSpec = func(watched *workspace.Repository) map[string]any {
			spec, _, _ := f.own.NextTo(watched)
			return spec
		}
	}
	return options
}

// logOwn writes into the log what of the user's own configuration is not taken over.
func (f *Flags) logOwn(logger *slog.Logger) {
	if f.own == nil {
		return
	}
	for _, warning := range f.own.Warnings() {
		logger.Warn("not all of the piped configuration is taken over", "reason", warning)
	}
}

// warnOfOwn says what of the user's own configuration is not taken over, and returns the further repositories on this
// machine.
func (s *Setup) warnOfOwn(watched *workspace.Repository) ([]*workspace.Repository, error) {
	own, err := s.Flags.readOwn()
	if err != nil || own == nil {
		return nil, err
	}
	_, local, warnings := own.NextTo(watched)
	for _, warning := range append(own.Warnings(), warnings...) {
		s.warn("warning: " + warning)
	}
	return local, nil
}

// checkFurther is checkUnread for the further repositories, with the warnings of warnOfOwn.
func (s *Setup) checkFurther(ctx context.Context, w *workspace.Workspace) error {
	from, err := s.Flags.chooseSource(s.Args)
	if err != nil || s.Flags.pipedConfig == "" {
		return err
	}
	watched := &workspace.Repository{} // a sample, which need not be there yet, and was cloned from nowhere
	if from.dir != "" {
		if watched, err = from.open(w); err != nil {
			return err
		}
	}
	local, err := s.warnOfOwn(watched)
	if err != nil || len(local) == 0 {
		return err
	}
	checker, err := s.Flags.checker(ctx, w)
	if err != nil {
		return err
	}
	var mistakes []error
	for _, repository := range local {
		mistakes = append(mistakes, repository.CheckUnread(checker))
	}
	if err := errors.Join(mistakes...); err != nil {
		return exit.Usage(err, "correct the file, commit it, and run again")
	}
	return nil
}

// watched limits a choice of applications to the repository of the environment.
func watched(selects func(file string) bool) func(repository, file string) bool {
	return func(repository, file string) bool { return repository != workspace.RepositoryID || selects(file) }
}

// unselect leaves out the applications that appSelector leaves out: piped does not register them.
func (s *Setup) unselect(repository *workspace.Repository, checked []*workspace.Checked) error {
	own, err := s.Flags.readOwn()
	if err != nil || own == nil || len(own.Piped.AppSelector) == 0 {
		return err
	}
	selected := *repository
	selected.Select(own.Piped.AppSelector)
	for _, one := range checked {
		if !slices.Contains(selected.Applications, one.File) {
			s.results.unselect(one.File)
		}
	}
	return nil
}

// further are the other repositories on this machine that the user's own configuration names and selects applications
// of, with these checked. It says what of the configuration is not taken over.
func (s *Setup) further(ctx context.Context, w *workspace.Workspace,
	repository *workspace.Repository) ([]*workspace.Repository, error) {
	local, err := s.warnOfOwn(repository)
	if err != nil || len(local) == 0 {
		return nil, err
	}
	checker, err := s.Flags.checker(ctx, w)
	if err != nil {
		return nil, err
	}
	var mistakes []error
	for _, one := range local {
		checked, err := one.CheckEach(checker)
		if err != nil {
			return nil, err
		}
		one.Select(s.Flags.own.Piped.AppSelector)
		s.results.facts.FurtherByHand = append(s.results.facts.FurtherByHand, one.Manual...)
		for _, application := range checked {
			if !slices.Contains(one.Applications, application.File) {
				continue
			}
			for _, warning := range application.Warnings {
				s.warn("warning: repository " + one.ID + ": " + warning)
			}
			if s.results.allowMissing && application.NoPlugin() {
				continue
			}
			for _, mistake := range application.Errors {
				mistakes = append(mistakes, fmt.Errorf("repository %s: %w", one.ID, mistake))
			}
		}
	}
	if err := errors.Join(mistakes...); err != nil {
		return nil, exit.Usage(err, "correct the file, commit it, and run again")
	}
	// One without applications deploys nothing that a run could wait for.
	return slices.DeleteFunc(local, func(r *workspace.Repository) bool { return len(r.Applications) == 0 }), nil
}

// isUsage reports whether an error is one of usage or configuration.
func isUsage(err error) bool {
	failure := (*exit.Error)(nil)
	return errors.As(err, &failure) && failure.Code == exit.WrongUsage
}
