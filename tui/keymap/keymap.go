// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package keymap

import (
	"slices"
	"strings"
)

// Action is what a key asks for.
type Action string

// The actions.
const (
	Quit      Action = "quit"
	Interrupt Action = "interrupt"
	Help      Action = "help"

	Approve Action = "approve"
	Skip    Action = "skip"
	// Break sets and clears breakpoints on the selected stage, and goes on after one.
	Break   Action = "break"
	Sync    Action = "sync"
	Cancel  Action = "cancel"
	Restart Action = "restart"
	// Retry deploys the same commit again, Rollback an earlier one.
	Retry    Action = "retry"
	Rollback Action = "rollback"
	// Reach opens the application itself.
	Reach Action = "reach"
	// PutBack makes the selected resource as it is in Git.
	PutBack Action = "put-back"
	// PodLog shows the log of the selected pod, PodShell opens a shell in it.
	PodLog   Action = "pod-log"
	PodShell Action = "pod-shell"
	// EditManifest opens a manifest of the application in the user's editor, and commits the change.
	EditManifest Action = "edit-manifest"
	// Shell opens the user's shell, in which kubectl works with the cluster.
	Shell Action = "shell"
	// ShowCard shows again what is live and which keys come next.
	ShowCard Action = "card"
	// Fault has a fault happen in the next run of the selected stage.
	Fault Action = "fault"
	// Calls lists the calls about a stage. A call that is shown is copied as a command or saved: as a Go test, or as a
	// recording of its stage.
	Calls       Action = "calls"
	AsCommand   Action = "as-command"
	AsGoTest    Action = "as-go-test"
	AsRecording Action = "as-recording"
	// StartAgain starts an environment whose process was killed.
	StartAgain Action = "start-again"

	NextPane         Action = "next-pane"
	PreviousPane     Action = "previous-pane"
	ShowApplications Action = "applications"
	ShowDeployment   Action = "deployment"
	ShowLog          Action = "log"
	ShowPlugins      Action = "plugins"
	ShowEnvironment  Action = "environment"
	ShowHistory      Action = "history"
	ShowResources    Action = "resources"
	// ShowInsights and ShowPreview are how deployments went, and what merging a branch would deploy.
	ShowInsights Action = "insights"
	ShowPreview  Action = "preview"
	// Inspect shows all that is known of the selected stage.
	Inspect Action = "inspect"

	Up       Action = "up"
	Down     Action = "down"
	Left     Action = "left"
	Right    Action = "right"
	Top      Action = "top"
	Bottom   Action = "bottom"
	PageUp   Action = "page-up"
	PageDown Action = "page-down"
	Open     Action = "open"
	Back     Action = "back"

	// Palette lists every action.
	Palette Action = "palette"
	// Zoom shows the focused pane alone.
	Zoom Action = "zoom"
	// Big shows the stages or the log alone, large.
	Big Action = "big"
	// ShowShare shows how others can watch.
	ShowShare Action = "share"
	// Copy copies what is selected, or the command of an action.
	Copy Action = "copy"
	// Redraw draws the screen again.
	Redraw Action = "redraw"

	// Form turns between lanes and boxes, Fold shows or hides what a reader of the graph can do without.
	Form Action = "form"
	Fold Action = "fold"

	Follow Action = "follow"
	Wrap   Action = "wrap"
	// The next ones are those of a log.
	Level      Action = "level"
	Times      Action = "times"
	FirstError Action = "first-error"
	Save       Action = "save"
	// Merge shows all stages in one time line, PluginOutput what plugins write next to it.
	Merge        Action = "merge"
	PluginOutput Action = "plugin-output"
	// SelectLines selects lines to copy, OnlyHits leaves those without a hit out.
	SelectLines   Action = "select-lines"
	OnlyHits      Action = "only-hits"
	Search        Action = "search"
	NextMatch     Action = "next-match"
	PreviousMatch Action = "previous-match"

	// While text is typed: Keep ends the line, Clear drops it, Edit deletes from it.
	Keep  Action = "keep"
	Clear Action = "clear"
	Edit  Action = "edit"

	// In a recorded session.
	PlayPause     Action = "play-pause"
	SkipBack      Action = "skip-back"
	SkipForward   Action = "skip-forward"
	PreviousEvent Action = "previous-event"
	NextEvent     Action = "next-event"
	Slower        Action = "slower"
	Faster        Action = "faster"

	// While a story is played.
	NextStep Action = "next-step"

	// In dialogs.
	KeepRunning Action = "keep-running"
	// Pick takes the choice whose key was pressed.
	Pick     Action = "pick"
	TearDown Action = "tear-down"
	Stay     Action = "stay"
	Yes      Action = "yes"
	No       Action = "no"
	// Otherwise is yes to a cancellation, with the opposite of what yes alone does: a rollback where that brings none,
	// and none where that brings one.
	Otherwise Action = "otherwise"
)

// Scope is a place in which keys hold.
type Scope string

// The scopes. The first group is panes, in which Anywhere holds too; the others stand for themselves.
const (
	Anywhere     Scope = "anywhere"
	Applications Scope = "applications"
	Deployment   Scope = "deployment"
	Log          Scope = "log"
	Plugins      Scope = "plugins"
	Environment  Scope = "environment"
	History      Scope = "history"
	Resources    Scope = "resources"
	Inspector    Scope = "inspector"
	Insights     Scope = "insights"
	Preview      Scope = "plan preview"

	Startup       Scope = "start-up"
	QuitDialog    Scope = "quit dialog"
	ConfirmDialog Scope = "confirm dialog"
	ChoiceDialog  Scope = "choice dialog"
	// ListDialog is a choice out of many.
	ListDialog  Scope = "list dialog"
	HelpOverlay Scope = "help"
	// CallOverlay is one call between piped and a plugin.
	CallOverlay Scope = "call"
	// ShareOverlay is how others can watch.
	ShareOverlay Scope = "share"
	// Typing is any line of text that is being typed; PaletteOverlay that of the actions.
	Typing         Scope = "typing"
	PaletteOverlay Scope = "actions"
)

// IsPane reports whether Anywhere holds in s too.
func (s Scope) IsPane() bool {
	switch s {
	case Applications, Deployment, Log, Plugins, Environment, History, Resources, Inspector, Insights,
		Preview:
		return true
	}
	return false
}

// Binding ties keys to an action.
type Binding struct {
	Action Action
	// Keys as Bubble Tea names them ("ctrl+c", "shift+tab", "G").
	Keys []string
	// Label is how the keys are shown; empty shows the first key.
	Label string
	// Short is for the footer (one or two words); empty keeps the binding out of it.
	Short string
	// Help is one line for the help.
	Help string
	// Scopes are where it holds.
	Scopes []Scope
	// Group is its heading in the help and in the documentation.
	Group string
	// Asks: a dialog asks before anything happens.
	Asks bool
	// Rank orders the footer: lower ones survive on a narrow screen.
	Rank int
}

// Name is how the keys are shown.
func (b Binding) Name() string {
	if b.Label != "" {
		return b.Label
	}
	return b.Keys[0]
}

// In reports whether b holds in scope.
func (b Binding) In(scope Scope) bool {
	return slices.Contains(b.Scopes, scope) ||
		(slices.Contains(b.Scopes, Anywhere) && scope.IsPane())
}

// Map is a set of bindings.
type Map []Binding

// Find returns what key means in scope.
func (m Map) Find(scope Scope, key string) (Binding, bool) {
	for _, b := range m {
		if slices.Contains(b.Keys, key) && b.In(scope) {
			return b, true
		}
	}
	return Binding{}, false
}

// Key is the first key of an action in a place; empty where it has none there.
func (m Map) Key(scope Scope, action Action) string {
	for _, b := range m {
		if b.Action == action && b.In(scope) {
			return b.Keys[0]
		}
	}
	return ""
}

// Reasons says why an action does nothing just now. An action without a reason works.
type Reasons map[Action]string

// Footer returns the bindings worth showing in scope: those that work, the most useful first.
func (m Map) Footer(scope Scope, reasons Reasons) []Binding {
	var shown []Binding
	for _, b := range m {
		if b.Short != "" && b.In(scope) && reasons[b.Action] == "" {
			shown = append(shown, b)
		}
	}
	slices.SortStableFunc(shown, func(a, b Binding) int { return a.Rank - b.Rank })
	return shown
}

// Group is a part of the help.
type Group struct {
	Name     string
	Bindings []Binding
}

// Help returns all bindings by group: first those of the scope itself, then those of every pane, then the others.
func (m Map) Help(scope Scope) []Group {
	var own, common, rest []Group
	for _, b := range m {
		switch {
		case slices.Contains(b.Scopes, scope) && !slices.Contains(b.Scopes, Anywhere):
			own = add(own, b)
		case slices.Contains(b.Scopes, Anywhere):
			common = add(common, b)
		default:
			rest = add(rest, b)
		}
	}
	return slices.Concat(own, common, rest)
}

// Groups returns all bindings by group, in the order of the map.
func (m Map) Groups() []Group {
	var groups []Group
	for _, b := range m {
		groups = add(groups, b)
	}
	return groups
}

func add(groups []Group, b Binding) []Group {
	i := slices.IndexFunc(groups, func(g Group) bool { return g.Name == b.Group })
	if i < 0 {
		i = len(groups)
		groups = append(groups, Group{Name: b.Group})
	}
	groups[i].Bindings = append(groups[i].Bindings, b)
	return groups
}

// Runs reports whether the palette lists b: it does something that is not a movement or an answer.
func (b Binding) Runs() bool {
	switch b.Action {
	case Up, Down, Left, Right, Top, Bottom, PageUp, PageDown, Open, Back, Palette, Interrupt:
		return false
	}
	return slices.ContainsFunc(b.Scopes, func(s Scope) bool { return s == Anywhere || s.IsPane() })
}

// Names are all its keys.
func (b Binding) Names() string {
	if b.Label == "" {
		return strings.Join(b.Keys, " ")
	}
	return b.Label
}
