// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/health"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/piped/scheduler"
	"github.com/pipedeck/pipedeck/piped/trigger"
)

// configurationMistakes keeps what is wrong with the configurations of applications. Some mistakes keep an application
// from being deployed. With others it is deployed all the same, as by PipeCD: keys that nothing reads, and wrong
// options of plugins. Each such application is a problem, which only a control plane of ours gets.
type configurationMistakes struct {
	// changed is called when the answer of problems may have changed.
	changed func()

	mu sync.Mutex
	// applications are those of the last pass of the trigger, by id.
	applications map[string]trigger.Configured
	// options are the mistakes in the options of plugins, by the application's id, as its newest plan found them.
	options map[string]config.Errors
	// refused are the mistakes by which the newest plan of an application failed.
	refused map[string]config.Errors
}

func newConfigurationMistakes(changed func()) *configurationMistakes {
	return &configurationMistakes{changed: changed, applications: map[string]trigger.Configured{},
		options: map[string]config.Errors{}, refused: map[string]config.Errors{}}
}

// configured takes all applications whose repository can be read, and forgets the others.
func (m *configurationMistakes) configured(list []trigger.Configured) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := len(m.applications)
	same := true
	now := make(map[string]trigger.Configured, before)
	for _, application := range list {
		was, known := m.applications[application.ID]
		same = same && known && alike(was, application)
		now[application.ID] = application
	}
	m.applications = now
	gone := func(id string, _ config.Errors) bool { _, known := now[id]; return !known }
	maps.DeleteFunc(m.options, gone)
	maps.DeleteFunc(m.refused, gone)
	if !same || len(now) != before {
		m.changed()
	}
}

// alike reports whether two states of an application have the same problem.
func alike(a, b trigger.Configured) bool {
	return a.Name == b.Name && textOf(a.Invalid) == textOf(b.Invalid) && a.Unread.Error() == b.Unread.Error()
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// planned returns what a planner asks for the mistakes in the options of a deployment, which are those of the
// application from then on.
func (m *configurationMistakes) planned(checks *pluginOptions) func(*model.Deployment, []byte, string) config.Errors {
	return func(d *model.Deployment, configuration []byte, filename string) config.Errors {
		errors, warnings := checks.application(configuration, filename)
		m.keep(m.options, d, errors)
		return append(errors, warnings...)
	}
}

// keep replaces the mistakes of the application of a deployment.
func (m *configurationMistakes) keep(in map[string]config.Errors, d *model.Deployment, mistakes config.Errors) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if in[d.GetApplicationId()].Error() != mistakes.Error() {
		in[d.GetApplicationId()] = mistakes
		m.changed()
	}
}

// watchedPlanner is a planner whose failures are mistakes of the application when its configuration is the cause.
type watchedPlanner struct {
	scheduler.Planner
	mistakes *configurationMistakes
}

// Plan plans the deployment. A plan that is interrupted says nothing about the configuration.
func (p *watchedPlanner) Plan(ctx context.Context, pending *model.Deployment) (*model.Deployment, error) {
	planned, err := p.Planner.Plan(ctx, pending)
	if ctx.Err() == nil {
		p.mistakes.keep(p.mistakes.refused, pending, p.mistakes.refusal(pending, err))
	}
	return planned, err
}

// refusal returns the mistakes in the configuration by which a plan failed; none when it failed by something else, or
// when its options name them.
func (m *configurationMistakes) refusal(d *model.Deployment, err error) config.Errors {
	if mistakes, is := errors.AsType[config.Errors](err); is {
		return mistakes
	}
	if mistake, is := errors.AsType[*config.Error](err); is {
		return config.Errors{mistake}
	}
	unknown, is := errors.AsType[*pluginhost.UnknownStageError](err)
	if !is || len(unknown.Down) > 0 {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.ContainsFunc(m.options[d.GetApplicationId()], func(e *config.Error) bool {
		return strings.Contains(e.Message, strconv.Quote(unknown.Stage))
	}) {
		return nil
	}
	file := cmp.Or(d.GetGitPath().GetConfigFilename(), config.DefaultApplicationFilename)
	return config.Errors{{File: path.Join(d.GetGitPath().GetPath(), file), Message: unknown.Error()}}
}

// problems is a [health.Source].
func (m *configurationMistakes) problems() (problems []health.Problem) {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := map[string]int{}
	for _, application := range m.applications {
		names[application.Name]++
	}
	for _, id := range slices.Sorted(maps.Keys(m.applications)) {
		application := m.applications[id]
		problem := m.problemOf(application)
		if problem.Reason == "" {
			continue
		}
		problem.Part = "configuration of " + application.Name
		problem.Configuration, problem.ApplicationID = true, id
		if names[application.Name] > 1 {
			problem.Part += " (" + id + ")"
		}
		problems = append(problems, problem)
	}
	return problems
}

// problemOf returns the reason and the next step; both are empty when nothing is wrong. The mistakes that keep the
// application from being deployed stand before those of its last plan. The caller holds mu.
func (m *configurationMistakes) problemOf(application trigger.Configured) health.Problem {
	missing, isMissing := errors.AsType[*trigger.MissingError](application.Invalid)
	mistakes, inFile := errors.AsType[config.Errors](application.Invalid)
	switch {
	case isMissing:
		return health.Problem{Reason: missing.Reason(), NextStep: missing.NextStep()}
	case application.Invalid != nil && !inFile:
		reason, _, _ := strings.Cut(application.Invalid.Error(), "\n")
		return health.Problem{Reason: reason, NextStep: correct}
	case application.Invalid == nil:
		mistakes = slices.Concat(application.Unread, m.options[application.ID], m.refused[application.ID])
	}
	return problemIn(mistakes)
}

// correct is the next step for a mistake in a file.
const correct = "correct the file and commit it"

// problemIn returns the reason and the next step for the mistakes of a file; both are empty when there are none.
func problemIn(mistakes config.Errors) health.Problem {
	if len(mistakes) == 0 {
		return health.Problem{}
	}
	mistakes = slices.Clone(mistakes)
	slices.SortStableFunc(mistakes, func(a, b *config.Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	problem := health.Problem{Reason: mistakes[0].Error(), NextStep: correct}
	if more := len(mistakes) - 1; more > 0 {
		problem.Reason += fmt.Sprintf(" (and %d more)", more)
		problem.NextStep += "; all mistakes: pipedeck validate " + mistakes[0].File
	}
	return problem
}
