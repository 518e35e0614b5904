// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package keymap

import "slices"

// The contexts in which several scopes share their keys.
var (
	anywhere = []Scope{Anywhere}
	// always is also before the main screen.
	always  = []Scope{Anywhere, Startup}
	lists   = []Scope{Applications, Plugins, Environment, History, Resources, Inspector, Insights, Preview}
	graph   = []Scope{Deployment}
	logs    = []Scope{Log}
	typing  = []Scope{Typing}
	dialogs = []Scope{QuitDialog, ConfirmDialog, ChoiceDialog, ListDialog}
)

// Default returns the bindings of pipedeck.
func Default() Map {
	return slices.Concat(actions(), places(), everywhere(), listKeys(), graphKeys(), logKeys(), startupKeys(),
		typingKeys(), dialogKeys(), callKeys(), shareKeys(), helpKeys())
}

func actions() Map {
	return Map{
		{Action: Approve, Keys: []string{"a"}, Short: "approve", Rank: 1, Help: "approve the selected stage",
			Group: "Actions", Scopes: anywhere},
		{Action: Skip, Keys: []string{"S"}, Short: "skip", Rank: 2, Help: "skip the selected stage", Asks: true,
			Group: "Actions", Scopes: anywhere},
		{Action: Break, Keys: []string{"b"}, Help: "pause at the selected stage; go on after a pause", Asks: true,
			Group: "Actions", Scopes: anywhere},
		{Action: Cancel, Keys: []string{"c"}, Short: "cancel", Rank: 3, Help: "cancel the deployment", Asks: true,
			Group: "Actions", Scopes: anywhere},
		{Action: Sync, Keys: []string{"s"}, Short: "sync", Rank: 4, Help: "deploy the newest commit", Asks: true,
			Group: "Actions", Scopes: anywhere},
		{Action: Retry, Keys: []string{"R"}, Short: "retry", Rank: 3, Help: "deploy the same commit again", Asks: true,
			Group: "Actions", Scopes: anywhere},
		{Action: Rollback, Keys: []string{"B"}, Help: "roll back to an earlier deployment", Asks: true,
			Group: "Actions", Scopes: anywhere},
		{Action: Restart, Keys: []string{"r"}, Short: "restart", Rank: 1, Help: "restart the plugin", Asks: true,
			Group: "Actions", Scopes: anywhere},
		{Action: Reach, Keys: []string{"o"}, Short: "open", Rank: 4, Help: "open the application",
			Group: "Actions", Scopes: anywhere},
		{Action: EditManifest, Keys: []string{"E"}, Help: "edit the manifest and commit it", Asks: true,
			Group: "Actions", Scopes: anywhere},
		{Action: Fault, Keys: []string{"K"}, Help: "have a fault happen in the stage", Asks: true,
			Group: "Actions", Scopes: anywhere},
		{Action: Shell, Keys: []string{"$"}, Help: "open a shell with the kubeconfig of the cluster",
			Group: "Actions", Scopes: anywhere},
		{Action: StartAgain, Keys: []string{"u"}, Help: "start the environment again",
			Group: "Actions", Scopes: always},
	}
}

func places() Map {
	place := func(action Action, help string, keys ...string) Binding {
		return Binding{Action: action, Keys: keys, Help: help, Group: "Go to", Scopes: anywhere}
	}
	environment := place(ShowEnvironment, "the parts of the environment", "e")
	environment.Short, environment.Rank = "environment", 10
	history := place(ShowHistory, "the earlier deployments", "d")
	history.Short, history.Rank = "history", 9
	resources := place(ShowResources, "the tree of resources, with health and drift", "t")
	resources.Short, resources.Rank = "resources", 11
	inspect := place(Inspect, "the details of the selected stage", "i")
	inspect.Short, inspect.Rank = "inspect", 6
	next := place(NextPane, "the next pane", "tab")
	next.Short, next.Rank = "next pane", 8
	card := place(ShowCard, "the card: what is live, and the next steps", "C")
	return Map{
		place(ShowApplications, "the applications", "1"),
		place(ShowDeployment, "the deployment and its stages", "2"),
		place(ShowLog, "the log of the stage", "3"),
		place(ShowPlugins, "the plugins and their output", "4"),
		environment, history, resources, inspect,
		place(ShowInsights, "the insights: how deployments went", "I"),
		place(ShowPreview, "the plan preview of a branch", "P"),
		next,
		place(PreviousPane, "the previous pane", "shift+tab"), card,
	}
}

func everywhere() Map {
	return Map{
		{Action: Help, Keys: []string{"?"}, Short: "help", Rank: 0, Help: "list the keys, the focused pane's first",
			Group: "Anywhere", Scopes: always},
		{Action: Palette, Keys: []string{":", "ctrl+p"}, Short: "actions", Rank: 5, Help: "find and run an action",
			Group: "Anywhere", Scopes: always},
		{Action: Search, Keys: []string{"/"}, Short: "find", Rank: 5, Help: "find in the pane",
			Group: "Anywhere", Scopes: always},
		{Action: Open, Keys: []string{"enter"}, Help: "go into the selected row", Group: "Anywhere", Scopes: anywhere},
		{Action: Back, Keys: []string{"esc"}, Help: "go back one step: search, selection, pane", Group: "Anywhere",
			Scopes: anywhere},
		{Action: Zoom, Keys: []string{"z"}, Help: "show the pane alone; again: back",
			Group: "Anywhere", Scopes: anywhere},
		{Action: Big, Keys: []string{"Z"}, Help: "show big mode, for projectors; again: back", Group: "Anywhere",
			Scopes: anywhere},
		{Action: Copy, Keys: []string{"y"}, Help: "copy what is selected: an id, a path, lines", Group: "Anywhere",
			Scopes: anywhere},
		{Action: ShowShare, Keys: []string{"Y"}, Help: "show and copy how others can watch", Group: "Anywhere",
			Scopes: anywhere},
		{Action: Redraw, Keys: []string{"ctrl+l"}, Help: "draw the screen again", Group: "Anywhere", Scopes: always},
		{Action: Quit, Keys: []string{"q"}, Short: "leave", Rank: 0, Help: "leave, or tear down", Asks: true,
			Group: "Anywhere", Scopes: always},
		{Action: Interrupt, Keys: []string{"ctrl+c"}, Help: "leave, keep all running; twice: at once",
			Group: "Anywhere", Scopes: append(slices.Concat(always, typing, dialogs), HelpOverlay, CallOverlay,
				ShareOverlay, PaletteOverlay)},
	}
}

// moves are the keys that move in a pane; help says what up, down, top and bottom do there.
func moves(group string, scopes []Scope, up, down, top, bottom string) Map {
	return Map{
		{Action: Up, Keys: []string{"up", "k"}, Label: "↑ k", Group: group, Help: up, Scopes: scopes},
		{Action: Down, Keys: []string{"down", "j"}, Label: "↓ j", Group: group, Help: down, Scopes: scopes},
		{Action: PageUp, Keys: []string{"pgup", "ctrl+u"}, Group: group, Help: "page up", Scopes: scopes},
		{Action: PageDown, Keys: []string{"pgdown", "ctrl+d", "space"}, Group: group, Help: "page down",
			Scopes: scopes},
		{Action: Top, Keys: []string{"g", "home"}, Group: group, Help: top, Scopes: scopes},
		{Action: Bottom, Keys: []string{"G", "end"}, Group: group, Help: bottom, Scopes: scopes},
	}
}

func left(group, help string, scopes ...Scope) Binding {
	return Binding{Action: Left, Keys: []string{"left", "h"}, Label: "← h", Group: group, Help: help, Scopes: scopes}
}

func right(group, help string, scopes ...Scope) Binding {
	return Binding{Action: Right, Keys: []string{"right", "l"}, Label: "→ l", Group: group, Help: help, Scopes: scopes}
}

func listKeys() Map {
	return slices.Concat(moves("Lists", lists, "up", "down", "first", "last"),
		Map{
			left("Lists", "to the applications", History, Resources, Inspector, Insights, Preview),
			right("Lists", "to the deployment", Applications),
			{Action: PutBack, Keys: []string{"p"}, Short: "put back", Rank: 2, Group: "Lists", Asks: true,
				Help: "put the selected resource back as in Git", Scopes: []Scope{Resources}},
			{Action: PodLog, Keys: []string{"L"}, Short: "log of pod", Rank: 2, Group: "Lists",
				Help: "show the log of the selected pod", Scopes: []Scope{Resources}},
			{Action: Calls, Keys: []string{"m"}, Short: "calls", Rank: 2, Group: "Lists",
				Help: "show a call with its messages", Scopes: []Scope{Inspector}},
			{Action: PodShell, Keys: []string{"X"}, Short: "shell in pod", Rank: 3, Group: "Lists",
				Help: "open a shell in the selected pod", Scopes: []Scope{Resources}},
			{Action: NextMatch, Keys: []string{"n"}, Group: "Lists",
				Help: "next resource with a problem; hit or application", Scopes: []Scope{Resources, Preview}},
			{Action: PreviousMatch, Keys: []string{"N"}, Group: "Lists", Help: "previous one of these",
				Scopes: []Scope{Resources, Preview}},
			{Action: Wrap, Keys: []string{"w"}, Short: "wrap", Rank: 7, Group: "Lists",
				Help: "wrap long lines of the output", Scopes: []Scope{Plugins}},
		})
}

func graphKeys() Map {
	return slices.Concat(moves("Graph", graph, "stage above", "stage below", "first stage", "last stage"),
		Map{
			left("Graph", "along an edge, to a need", Deployment),
			right("Graph", "along an edge, to a follower", Deployment),
			{Action: Form, Keys: []string{"v"}, Short: "form", Rank: 6, Group: "Graph", Help: "lanes or boxes",
				Scopes: graph},
			{Action: Fold, Keys: []string{"F"}, Group: "Graph", Help: "fold or show finished and future stages",
				Scopes: graph},
			{Action: NextMatch, Keys: []string{"n"}, Group: "Graph", Help: "next hit, or next failed or waiting stage",
				Scopes: graph},
			{Action: PreviousMatch, Keys: []string{"N"}, Group: "Graph", Help: "previous hit or problem",
				Scopes: graph},
			{Action: Follow, Keys: []string{"f"}, Short: "follow", Rank: 6, Group: "Graph",
				Help: "go back to what runs, and to the end of its log", Scopes: graph},
			{Action: Wrap, Keys: []string{"w"}, Short: "wrap", Rank: 7, Group: "Graph",
				Help: "wrap long lines of the log", Scopes: graph},
		})
}

func logKeys() Map {
	return slices.Concat(moves("Log", logs, "a line up", "a line down", "first line", "last line"),
		Map{
			left("Log", "slide left; to the applications when wrapped", Log),
			right("Log", "slide right", Log),
			{Action: NextMatch, Keys: []string{"n"}, Group: "Log", Help: "next hit", Scopes: logs},
			{Action: PreviousMatch, Keys: []string{"N"}, Group: "Log", Help: "previous hit", Scopes: logs},
			{Action: Follow, Keys: []string{"f"}, Short: "follow", Rank: 6, Group: "Log",
				Help:   "go back to what runs, and to its end",
				Scopes: logs},
			{Action: Wrap, Keys: []string{"w"}, Short: "wrap", Rank: 7, Group: "Log", Help: "wrap long lines",
				Scopes: logs},
			{Action: FirstError, Keys: []string{"!"}, Short: "first error", Rank: 6, Group: "Log",
				Help: "go to the first error of the log", Scopes: []Scope{Log, Deployment}},
			{Action: Level, Keys: []string{"L"}, Short: "level", Rank: 6, Group: "Log",
				Help: "show lines from info, warn or error on, or all", Scopes: logs},
			{Action: Times, Keys: []string{"T"}, Short: "times", Rank: 8, Group: "Log",
				Help: "times of the day, since the first line, or none", Scopes: logs},
			{Action: Merge, Keys: []string{"m"}, Short: "all stages", Rank: 7, Group: "Log",
				Help: "all stages in one time line, or the selected one", Scopes: logs},
			{Action: PluginOutput, Keys: []string{"p"}, Short: "plugin output", Rank: 7, Group: "Log",
				Help: "output of the plugins: none, all, each", Scopes: logs},
			{Action: SelectLines, Keys: []string{"v"}, Group: "Log", Help: "select lines to copy; again: none",
				Scopes: logs},
			{Action: OnlyHits, Keys: []string{"&"}, Group: "Log", Help: "show only the lines with a hit; again: all",
				Scopes: logs},
			{Action: Save, Keys: []string{"W"}, Short: "save", Rank: 8, Group: "Log",
				Help: "save the log to a file", Scopes: logs},
		})
}

func startupKeys() Map {
	return Map{{Action: Open, Keys: []string{"enter", "tab", "esc"}, Label: "tab", Short: "main screen", Rank: 1,
		Help: "leave the start-up steps for the main screen", Group: "While the environment starts",
		Scopes: []Scope{Startup}}}
}

// typingKeys has no letters: they are typed.
func typingKeys() Map {
	const group = "While text is typed"
	typed := func(action Action, short, help string, rank int, keys ...string) Binding {
		return Binding{Action: action, Keys: keys, Short: short, Help: help, Rank: rank, Group: group, Scopes: typing}
	}
	all := typed(Edit, "delete left", "delete all, a word or a letter left of the cursor", 3,
		"ctrl+u", "ctrl+w", "backspace")
	move := typed(Up, "", "to the match above", 2, "up")
	down := typed(Down, "move", "to the match below", 2, "down")
	down.Label = "up down"
	of := func(action Action, label, short, help string, rank int, keys ...string) Binding {
		return Binding{Action: action, Keys: keys, Label: label, Short: short, Help: help, Rank: rank,
			Group: "Actions, while open", Scopes: []Scope{PaletteOverlay}}
	}
	return Map{
		typed(Keep, "keep", "keep the filter, or do what the bottom line says", 0, "enter"),
		typed(Clear, "clear", "clear and leave the line", 1, "esc"),
		move, down, all,
		of(Keep, "", "run", "run the action", 0, "enter"),
		of(Clear, "", "close", "close", 1, "esc"),
		of(Up, "", "", "action above", 2, "up"),
		of(Down, "up down", "choose", "action below", 2, "down"),
		of(Copy, "", "copy command", "copy the command that does the same", 3, "ctrl+y"),
		of(PageUp, "", "", "page up", 2, "pgup"),
		of(PageDown, "", "", "page down", 2, "pgdown"),
	}
}

func dialogKeys() Map {
	list := []Scope{ListDialog}
	return Map{
		{Action: KeepRunning, Keys: []string{"y"}, Help: "leave, keep the environment running", Group: "Dialog: leave",
			Scopes: []Scope{QuitDialog}},
		{Action: TearDown, Keys: []string{"t"}, Help: "leave and tear the environment down", Group: "Dialog: leave",
			Scopes: []Scope{QuitDialog}},
		{Action: Stay, Keys: []string{"esc", "q", "s"}, Label: "esc", Short: "stay", Rank: 1, Help: "stay",
			Group: "Dialog: leave", Scopes: []Scope{QuitDialog}},
		{Action: Yes, Keys: []string{"y"}, Help: "yes", Group: "Dialog: confirm", Scopes: []Scope{ConfirmDialog}},
		{Action: Otherwise, Keys: []string{"r"}, Help: "yes, the other way: with or without a rollback",
			Group: "Dialog: confirm", Scopes: []Scope{ConfirmDialog}},
		{Action: Pick, Keys: []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}, Label: "1-9", Help: "this choice",
			Group: "Dialog: choose", Scopes: []Scope{ConfirmDialog, ChoiceDialog, ListDialog}},
		{Action: No, Keys: []string{"n", "esc", "q"}, Label: "esc", Short: "no", Rank: 1, Help: "no",
			Group: "Every dialog", Scopes: []Scope{ConfirmDialog, ChoiceDialog, ListDialog}},
		{Action: Up, Keys: []string{"up", "shift+tab", "k"}, Help: "choice above", Group: "Every dialog",
			Scopes: dialogs},
		{Action: Down, Keys: []string{"down", "tab", "j"}, Help: "choice below", Group: "Every dialog",
			Scopes: dialogs},
		{Action: Open, Keys: []string{"enter"}, Short: "choose", Help: "take the selected choice",
			Group: "Every dialog", Scopes: dialogs},
		{Action: Search, Keys: []string{"/"}, Short: "find", Rank: 2, Help: "filter the choices",
			Group: "Dialog: choose from a list", Scopes: list},
		{Action: PageUp, Keys: []string{"pgup", "ctrl+u"}, Help: "page up", Group: "Dialog: choose from a list",
			Scopes: list},
		{Action: PageDown, Keys: []string{"pgdown", "ctrl+d", "space"}, Help: "page down",
			Group: "Dialog: choose from a list", Scopes: list},
		{Action: Top, Keys: []string{"g", "home"}, Help: "first choice", Group: "Dialog: choose from a list",
			Scopes: list},
		{Action: Bottom, Keys: []string{"G", "end"}, Help: "last choice", Group: "Dialog: choose from a list",
			Scopes: list},
	}
}

func callKeys() Map {
	scopes := []Scope{CallOverlay}
	of := func(action Action, key, short, help string) Binding {
		return Binding{Action: action, Keys: []string{key}, Short: short, Rank: 2, Help: help, Group: "Call",
			Scopes: scopes}
	}
	return slices.Concat(moves("Call", scopes, "a line up", "a line down", "first line", "last line"), Map{
		of(Copy, "y", "copy", "copy the call with its messages"),
		of(AsCommand, "c", "copy grpcurl", "copy a command of grpcurl that makes the same call"),
		of(AsGoTest, "t", "Go test", "save a Go test that replays the stage"),
		of(AsRecording, "w", "recording", "save a recording of the stage"),
		{Action: Back, Keys: []string{"esc", "q"}, Short: "close", Rank: 1, Help: "close", Group: "Call",
			Scopes: scopes},
	})
}

func shareKeys() Map {
	scopes := []Scope{ShareOverlay}
	return Map{
		{Action: Copy, Keys: []string{"y"}, Short: "copy", Rank: 2, Help: "copy the address or the command",
			Group: "Share", Scopes: scopes},
		{Action: Zoom, Keys: []string{"z"}, Short: "QR code", Rank: 3, Help: "show the QR code alone; again: back",
			Group: "Share", Scopes: scopes},
		{Action: Up, Keys: []string{"up", "k"}, Label: "↑ k", Help: "way above", Group: "Share", Scopes: scopes},
		{Action: Down, Keys: []string{"down", "j"}, Label: "↓ j", Help: "way below", Group: "Share", Scopes: scopes},
		{Action: Back, Keys: []string{"esc", "q", "Y"}, Short: "close", Rank: 1, Help: "close", Group: "Share",
			Scopes: scopes},
	}
}

func helpKeys() Map {
	scopes := []Scope{HelpOverlay}
	return slices.Concat(moves("Help", scopes, "a line up", "a line down", "first line", "last line"), Map{
		{Action: Search, Keys: []string{"/"}, Short: "find", Rank: 2, Help: "find a key", Group: "Help",
			Scopes: scopes},
		{Action: Back, Keys: []string{"esc", "q", "?"}, Short: "close", Rank: 1, Help: "close", Group: "Help",
			Scopes: scopes},
	})
}
