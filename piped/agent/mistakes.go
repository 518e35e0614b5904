// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/health"
	"github.com/pipedeck/pipedeck/piped/trigger"
)

// configurationMistakes keeps the mistakes with which applications are deployed all the same, as by PipeCD: keys that
// nothing reads, and wrong options of plugins. Each such application is a problem, which only a control plane of ours
// gets.
type configurationMistakes struct {
	// changed is called when the answer of problems may have changed.
	changed func()

	mu sync.Mutex
	// applications are those of the last pass of the trigger, by id.
	applications map[string]trigger.Configured
	// options are the mistakes in the options of plugins, by the application's id, as its newest plan found them.
	options map[string]config.Errors
}

func newConfigurationMistakes(changed func()) *configurationMistakes {
	return &configurationMistakes{changed: changed, applications: map[string]trigger.Configured{},
		options: map[string]config.Errors{}}
}

// configured takes all applications whose configuration can be used, and forgets the others.
func (m *configurationMistakes) configured(list []trigger.Configured) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := len(m.applications)
	same := true
	now := make(map[string]trigger.Configured, before)
	for _, application := range list {
		was, known := m.applications[application.ID]
		same = same && known && was.Name == application.Name && was.Unread.Error() == application.Unread.Error()
		now[application.ID] = application
	}
	m.applications = now
	maps.DeleteFunc(m.options, func(id string, _ config.Errors) bool { _, known := now[id]; return !known })
	if !same || len(now) != before {
		m.changed()
	}
}

// planned returns what a planner asks for the mistakes in the options of a deployment, which are those of the
// application from then on.
func (m *configurationMistakes) planned(checks *pluginOptions) func(*model.Deployment, []byte, string) config.Errors {
	return func(d *model.Deployment, configuration []byte, filename string) config.Errors {
		errors, warnings := checks.application(configuration, filename)
		m.mu.Lock()
		defer m.mu.Unlock()
		if was := m.options[d.GetApplicationId()]; was.Error() != errors.Error() {
			m.options[d.GetApplicationId()] = errors
			m.changed()
		}
		return append(errors, warnings...)
	}
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
		mistakes := append(slices.Clone(application.Unread), m.options[id]...)
		if len(mistakes) == 0 {
			continue
		}
		slices.SortStableFunc(mistakes, func(a, b *config.Error) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		problem := health.Problem{
			Part: "configuration of " + application.Name, ApplicationID: id, Reason: mistakes[0].Error(),
			NextStep: "correct the file and commit it",
		}
		if names[application.Name] > 1 {
			problem.Part += " (" + id + ")"
		}
		if more := len(mistakes) - 1; more > 0 {
			problem.Reason += fmt.Sprintf(" (and %d more)", more)
			problem.NextStep += "; all mistakes: pipedeck validate " + mistakes[0].File
		}
		problems = append(problems, problem)
	}
	return problems
}
