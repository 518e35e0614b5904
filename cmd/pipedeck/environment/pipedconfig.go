// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/devenv/ownpiped"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/config/options"
	"github.com/pipedeck/pipedeck/piped/notifier"
	"github.com/pipedeck/pipedeck/tui/text"
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
		Bundled: append(slices.Clone(bundledPlugins), multiclusterPlugin), Given: names(f.plugins),
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
		bundled := slices.Contains(bundledPlugins, name) || name == multiclusterPlugin
		plugin := bundledPlugin(bin, name)
		plugin.Kubernetes = slices.Contains(kubernetesPlugins, name) && !f.none()
		return plugin, bundled
	}, names(f.pluginConfigs))
}

// pipedSpec returns what the environment takes over of the user's own configuration besides plugins; nil for nothing.
func (f *Flags) pipedSpec() func(*workspace.Repository) map[string]any {
	if f.own == nil {
		return nil
	}
	return func(watched *workspace.Repository) map[string]any {
		spec, _, _ := f.own.Beside(watched)
		return spec
	}
}

// pipedDirectory is where piped runs, which relative paths in the configuration of plugins begin at; empty for where
// this process runs.
func (f *Flags) pipedDirectory() string {
	if f.own == nil {
		return ""
	}
	return f.own.Dir
}

// warnOfOwn says what of the user's own configuration is not taken over, and returns the further repositories on this
// machine.
func (s *Setup) warnOfOwn(watched *workspace.Repository) ([]*workspace.Repository, error) {
	own, err := s.Flags.readOwn()
	if err != nil || own == nil {
		return nil, err
	}
	_, local, warnings := own.Beside(watched)
	for _, warning := range append(own.Warnings(), warnings...) {
		fmt.Fprintln(os.Stderr, s.Mode.line(time.Now(), text.Clean("warning: "+warning)))
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

// further are the other repositories on this machine, with their applications checked. Those that appSelector leaves out
// count nowhere.
func (s *Setup) further(ctx context.Context, w *workspace.Workspace, watched *workspace.Repository) (awaited, error) {
	local, err := s.warnOfOwn(watched)
	if err != nil || s.Flags.own == nil {
		return nil, err
	}
	for _, repository := range local {
		if len(repository.Applications) == 0 {
			continue
		}
		if err := s.checkApplications(ctx, w, repository); err != nil {
			return nil, err
		}
	}
	selector, selected := s.Flags.own.Piped.AppSelector, 0
	for _, repository := range append(awaited{watched}, local...) {
		repository.Select(selector)
		selected += len(repository.Applications)
	}
	if selected == 0 {
		return nil, exit.Usage(fmt.Errorf("no application has the labels of spec.appSelector in %s", s.Flags.pipedConfig),
			"correct the labels, or remove appSelector")
	}
	return local, nil
}

// awaited are the repositories whose applications ci waits for.
type awaited []*workspace.Repository

// heads are the commits to deploy.
func (a awaited) heads() (commits []string) {
	for _, repository := range a {
		commits = append(commits, repository.Head)
	}
	return commits
}

// manual are the names of the applications that only users deploy.
func (a awaited) manual() (all []string) {
	for _, repository := range a {
		all = append(all, repository.Manual...)
	}
	return all
}

// registered reports whether piped has registered every application. Those of other repositories, which are not on this
// machine, do not count.
func (a awaited) registered(applications []*deckv1.Application) bool {
	left := map[string]int{}
	for _, repository := range a {
		for _, file := range repository.Applications {
			left[file]++
		}
	}
	for _, application := range applications {
		left[path.Join(application.GetPath(), application.GetConfigFilename())]--
	}
	for _, missing := range left {
		if missing > 0 {
			return false
		}
	}
	return true
}
