// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/view"
)

// noCommands is why what a command of pipedeck does cannot be done.
const noCommands = "this UI has no program to run"

// injections have faults happen. The commands of pipedeck about faults do the work.
type injections struct{ *actions }

func injectionsOf(a *actions) injections { return injections{a} }

// refusal is why no fault can be given to a stage; empty when one can.
func (a injections) refusal(stage *deckv1.Stage) string {
	app := a.chosen.application()
	switch {
	case stage == nil:
		return "no stage is selected"
	case a.host.cfg.Command == nil:
		return noCommands
	case !state.TakesFaults(a.link.deck, app):
		return "its piped takes no faults"
	case a.link.deck.ApplicationArgument(app) == "":
		return "several applications have this name"
	}
	return ""
}

// offer is a fault of the menu: what happens, and the rule without the name of the stage.
type offer struct{ says, rule string }

// offersFor are the faults for stages of a plugin, which may call no cluster.
func offersFor(plugin *deckv1.Plugin) []offer {
	return slices.DeleteFunc(slices.Clone(offers), func(one offer) bool {
		return strings.HasPrefix(one.rule, "/cluster") && !plugin.GetTakesClusterFaults()
	})
}

var offers = []offer{
	{"its plugin is killed at its first call", ": kill"},
	{"its plugin is killed at the 3rd line of the log", ": kill@log 3"},
	{"its plugin gets the stage 10s late", ": delay 10s"},
	{"its plugin never gets the stage", ": hang"},
	{"piped is unavailable for 3 calls of its plugin", ": unavailable 3"},
	{"it fails, whatever its plugin answers", ": status failure"},
	{"10000 lines flood its log", ": flood 10000"},
	{"the cluster is unavailable for 3 calls", "/cluster: unavailable 3"},
	{"the cluster takes 5s for a call", "/cluster: delay 5s"},
	{"the cluster has a conflict for what is applied", "/cluster/apply: conflict"},
	{"the cluster forbids what is applied", "/cluster/apply: forbidden"},
}

// faultMenu is the choice of a fault. Its lines are about the selected one.
type faultMenu struct {
	*chooser
	// commands do the same in a shell, by the text of the choice.
	commands map[string]string
	waiting  string
}

func (m *faultMenu) draw(width, height int) string {
	m.lines = []string{"It happens once, in the next attempt. The log of the stage says so."}
	if m.waiting != "" {
		m.lines = append(m.lines, m.waiting)
	}
	if len(m.choices) > 0 {
		selected := m.choices[min(m.selected, len(m.choices)-1)]
		if command := m.commands[selected.text]; command != "" {
			m.lines = append(m.lines, "As a command: "+command)
		}
	}
	return m.chooser.draw(width, height)
}

// ask opens the menu for the selected stage.
func (a injections) ask() {
	app, stage := a.chosen.application(), a.chosen.stage()
	word, name := state.StageWord(stage), a.link.deck.ApplicationArgument(app)
	d := dialog{
		host: a.host, overlays: a.overlays, scope: keymap.ListDialog,
		title:   "Fault in the next run of " + text.Line(word),
		choices: []choice{{keymap.No, "", "no", a.overlays.pop}},
	}
	m := &faultMenu{commands: map[string]string{}}
	add := func(says, done string, args ...string) {
		m.commands[says] = a.command(args)
		d.choices = append(d.choices, choice{keymap.Pick, "", says, func() tea.Cmd {
			a.overlays.pop()
			return a.start(runCommand(a.host, done, says, args))
		}})
	}
	if waiting := state.Faults(a.link.deck, app, stage); len(waiting) > 0 {
		args := []string{"fault", "clear"}
		for _, f := range waiting {
			args = append(args, f.GetId())
		}
		m.waiting = "Waits already: " + text.Line(waiting[0].GetRule())
		if more := len(waiting) - 1; more > 0 {
			m.waiting += fmt.Sprintf(" and %d more", more)
		}
		add("none: remove "+view.Count(len(waiting), "fault")+" that wait", "no fault waits for "+word, args...)
	}
	for _, offer := range offersFor(a.link.deck.PluginOf(a.chosen.deployment(), stage)) {
		rule := word + offer.rule
		add(offer.says, "a fault waits for "+word+": "+rule, "fault", "add", "--app", name, rule)
	}
	for i := range d.choices[1:] {
		if i < maxTargets {
			d.choices[i+1].key = fmt.Sprint(i + 1)
		}
	}
	m.chooser = newChooser(d)
	a.overlays.push(m)
}

// runCommand runs a command of pipedeck and reports it.
func runCommand(h *host, done, doing string, args []string) tea.Cmd {
	run := h.cfg.Command
	return h.work.do(func(ctx context.Context) tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, 2*callTimeout)
		defer cancel()
		_, said, err := run(ctx, slices.Clone(args))
		if err != nil {
			return actionMsg{asked: true, err: fmt.Errorf("%s: %s", doing, text.Line(err.Error()))}
		}
		return actionMsg{asked: true, done: cmp.Or(done, text.Line(said))}
	})
}
