// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"errors"
	"fmt"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config/options"
	"github.com/pipedeck/pipedeck/piped/fault"
	"github.com/pipedeck/pipedeck/system/spelling"
)

// checkFaultTargets returns an error for the first rule of --fault whose stage neither a plugin nor an application at
// HEAD has: its fault would never happen.
func checkFaultTargets(given []string, repository *workspace.Repository, checker *options.Checker) error {
	rules, err := fault.Parse(given)
	if len(given) == 0 || err != nil {
		return err
	}
	known, all := stagesOfPlugins(checker)
	if !all {
		return nil
	}
	configurations, err := repository.Configurations()
	if err != nil {
		return err
	}
	for _, one := range configurations {
		if one.Application == nil {
			return nil // its stages are not known
		}
		if one.Application.Pipeline != nil {
			for _, stage := range one.Application.Pipeline.Stages {
				known = append(known, stage.Name, stage.ID)
			}
		}
	}
	for _, rule := range rules.List() {
		if !fault.Known(rule.GetStage(), known) {
			hint := "list the stages of the plugins with: pipedeck plugin list"
			if near := spelling.Nearest(rule.GetStage(), known); near != "" {
				hint = "did you mean " + near + "?"
			}
			return exit.Usage(fmt.Errorf("--fault %q: no application and no plugin has a stage %s", rule.GetRule(),
				rule.GetStage()), hint)
		}
	}
	return nil
}

// stagesOfPlugins are the types of stages that the plugins of the environment have; all is false when one of them may
// have others.
func stagesOfPlugins(checker *options.Checker) (types []string, all bool) {
	for _, plugin := range checker.Plugins {
		if plugin.Schema == nil {
			return nil, false
		}
		types = append(append(types, plugin.Schema.Stages()...), plugin.Stages...)
	}
	return types, true
}

// warnOfFaultTargets is checkFaultTargets where such a stage may appear later.
func warnOfFaultTargets(given []string, repository *workspace.Repository, checker *options.Checker,
	warn func(string)) {
	var failure *exit.Error
	if err := checkFaultTargets(given, repository, checker); errors.As(err, &failure) {
		warn(fmt.Sprintf("warning: %s; it waits for a stage that may come; %s", failure.Err, failure.Hint))
	}
}
