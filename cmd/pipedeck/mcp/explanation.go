// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/pipedeck/pipedeck/piped/clip"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/view"
)

const (
	// firstProblems stay in a long answer for longer than logs do; the summary counts them all.
	firstProblems = 20
	// maxSummary bounds the summary in bytes. A byte takes at most six in JSON.
	maxSummary = 8 << 10
	// leftOut stands in place of a log for which an answer has no room.
	leftOut = "left out, because the answer is long; next step: read it with the tool logs"
)

// explanation is what why returns.
type explanation struct {
	// Summary says in a sentence what there is.
	Summary string `json:"summary"`
	// Starting are the parts of the environment that are not ready yet: what is missing may only not have come.
	Starting []string           `json:"starting,omitempty"`
	Problems []document.Problem `json:"problems,omitempty"`
	// MoreProblems counts the problems that are left out.
	MoreProblems int `json:"more_problems,omitempty"`
	// Troubles are the applications that have failed, wait, are not healthy or not in sync.
	Troubles []trouble `json:"troubles"`
	// More counts applications in trouble that are left out.
	More int `json:"more,omitempty"`
}

// trouble is one application, and what may be the cause.
type trouble struct {
	Application document.Application `json:"application"`
	// Deployment is the newest one.
	Deployment *document.Deployment `json:"deployment,omitempty"`
	// Stages are those that have failed, wait or run, with the end of their logs.
	Stages []troubledStage `json:"stages,omitempty"`
	// MoreStages counts those that are left out.
	MoreStages int `json:"more_stages,omitempty"`
}

type troubledStage struct {
	document.Stage
	Log []string `json:"log"`
}

// summary says what there is: an empty list says neither that all is well nor that there is nothing yet.
func (e *explanation) summary(applications int, asked string) string {
	var each []string
	for _, t := range e.Troubles {
		each = append(each, t.Application.Name+": "+t.word())
	}
	if e.More > 0 {
		each = append(each, "and "+view.Count(e.More, "more application"))
	}
	said := strings.Join(each, "; ")
	switch {
	case asked != "":
	case applications == 0:
		said = "no application is known"
	case len(e.Troubles) == 0:
		said = fmt.Sprintf("nothing has failed or waits: of %s, each is healthy and in sync",
			view.Count(applications, "application"))
	}
	if len(e.Problems) > 0 {
		said += "; " + view.Count(len(e.Problems), "problem") + " of the environment"
	}
	if len(e.Starting) > 0 {
		said += "; the environment is still starting: " + strings.Join(e.Starting, ", ")
	}
	return clip.Bytes(said, maxSummary)
}

// word is what matters most about an application.
func (t trouble) word() string {
	for _, s := range t.Stages {
		if s.CanApprove {
			return fmt.Sprintf("stage %s waits for approval", cmp.Or(s.ConfigID, s.Name))
		}
	}
	a, d := t.Application, t.Deployment
	switch {
	case d != nil && (d.Status == "FAILURE" || d.Status == "CANCELLED"):
		return "the newest deployment ended with " + d.Status
	case d != nil && d.Status != "SUCCESS":
		return "the newest deployment is " + d.Status
	}
	return a.Sync + ", " + a.Health
}

// fit leaves parts out, the last ones of each kind first, until the answer has at most so many bytes of JSON.
func (e *explanation) fit(most int) error {
	for _, p := range e.parts() {
		fits, err := e.within(most)
		if fits || err != nil {
			return err
		}
		// The search keeps as much as there is room for.
		n := sort.Search(p.count-p.least, func(fewer int) bool {
			p.keep(p.count - 1 - fewer)
			fits, _ := e.within(most)
			return fits
		})
		p.keep(max(p.least, p.count-1-n))
	}
	return nil
}

func (e *explanation) within(most int) (bool, error) {
	encoded, err := json.Marshal(e)
	return len(encoded) <= most, err
}

// part is a part of an explanation, of which the first ones can be kept and the rest left out.
type part struct {
	// least is how many stay at least, of count.
	least, count int
	// keep keeps the first n of those that there were.
	keep func(n int)
}

// parts are what can be left out, in the order in which it goes. What says least about a cause goes first. The summary
// stays, and names applications and parts of the environment that are left out.
func (e *explanation) parts() []part {
	problems, troubles, more, starting := e.Problems, e.Troubles, e.More, e.Starting
	keepProblems := func(n int) { e.Problems, e.MoreProblems = problems[:n], len(problems)-n }
	first := min(firstProblems, len(problems))
	return []part{
		{first, len(problems), keepProblems},
		e.logs(),
		e.reasons(),
		{0, first, keepProblems},
		e.stages(),
		{0, len(troubles), func(n int) { e.Troubles, e.More = troubles[:n], more+len(troubles)-n }},
		{0, len(starting), func(n int) { e.Starting = starting[:n] }},
	}
}

// logs are the logs of stages.
func (e *explanation) logs() part {
	var stages []*troubledStage
	var logs [][]string
	for t := range e.Troubles {
		for s := range e.Troubles[t].Stages {
			stages = append(stages, &e.Troubles[t].Stages[s])
			logs = append(logs, e.Troubles[t].Stages[s].Log)
		}
	}
	return part{0, len(stages), func(n int) {
		for i, s := range stages {
			s.Log = []string{leftOut}
			if i < n {
				s.Log = logs[i]
			}
		}
	}}
}

// reasons are those of drifts, with a line for each field. The tool differences has them, too.
func (e *explanation) reasons() part {
	troubles := slices.Clone(e.Troubles)
	return part{0, len(troubles), func(n int) {
		for i, t := range troubles {
			e.Troubles[i].Application.Reason = t.Application.ShortReason
			if i < n {
				e.Troubles[i].Application.Reason = t.Application.Reason
			}
		}
	}}
}

// stages are those of all applications.
func (e *explanation) stages() part {
	var count int
	troubles := slices.Clone(e.Troubles)
	for _, t := range troubles {
		count += len(t.Stages)
	}
	return part{0, count, func(n int) {
		for i, t := range troubles {
			kept := min(n, len(t.Stages))
			e.Troubles[i].Stages, e.Troubles[i].MoreStages = t.Stages[:kept], len(t.Stages)-kept
			n -= kept
		}
	}}
}
