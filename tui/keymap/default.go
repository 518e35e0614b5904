// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package keymap

// Default returns the bindings of pipedeck.
func Default() Map {
	anywhere := []Scope{Anywhere}
	everywhere := []Scope{Anywhere, Startup}
	lists := []Scope{Applications, Deployment, Log, Plugins, History, Environment, Resources}
	log := []Scope{Log, Plugins}
	dialogs := []Scope{QuitDialog, ConfirmDialog, ChoiceDialog}
	return Map{
		{Action: Approve, Keys: []string{"a"}, Short: "approve", Rank: 1, Group: "Act",
			Help: "approve the selected stage", Scopes: anywhere},
		{Action: Skip, Keys: []string{"S"}, Short: "skip", Rank: 2, Group: "Act",
			Help: "skip the selected stage", Scopes: anywhere},
		{Action: Sync, Keys: []string{"s"}, Short: "sync", Rank: 4, Group: "Act",
			Help: "deploy the newest commit", Scopes: anywhere},
		{Action: Cancel, Keys: []string{"c"}, Short: "cancel", Rank: 3, Group: "Act",
			Help: "cancel the deployment", Scopes: anywhere},
		{Action: Restart, Keys: []string{"r"}, Short: "restart", Rank: 1, Group: "Act",
			Help: "restart the plugin", Scopes: anywhere},
		{Action: Reach, Keys: []string{"o"}, Short: "open", Rank: 4, Group: "Act",
			Help: "open the application", Scopes: anywhere},

		{Action: NextPane, Keys: []string{"tab"}, Short: "next pane", Rank: 8, Group: "Go to",
			Help: "next pane", Scopes: anywhere},
		{Action: PreviousPane, Keys: []string{"shift+tab"}, Group: "Go to",
			Help: "previous pane", Scopes: anywhere},
		{Action: ShowApplications, Keys: []string{"1"}, Group: "Go to", Help: "applications", Scopes: anywhere},
		{Action: ShowDeployment, Keys: []string{"2"}, Group: "Go to", Help: "deployment and its stages",
			Scopes: anywhere},
		{Action: ShowLog, Keys: []string{"3"}, Group: "Go to", Help: "log of the stage", Scopes: anywhere},
		{Action: ShowPlugins, Keys: []string{"4"}, Group: "Go to", Help: "plugins and their output", Scopes: anywhere},
		{Action: ShowEnvironment, Keys: []string{"e"}, Short: "environment", Rank: 10, Group: "Go to",
			Help: "parts of the environment", Scopes: anywhere},
		{Action: ShowHistory, Keys: []string{"d"}, Short: "history", Rank: 9, Group: "Go to",
			Help: "earlier deployments", Scopes: anywhere},

		{Action: Up, Keys: []string{"up", "k"}, Label: "↑ k", Group: "Move", Help: "up", Scopes: lists},
		{Action: Down, Keys: []string{"down", "j"}, Label: "↓ j", Group: "Move", Help: "down", Scopes: lists},
		{Action: Left, Keys: []string{"left", "h"}, Label: "← h", Group: "Move",
			Help: "left (also unwrapped logs)", Scopes: lists},
		{Action: Right, Keys: []string{"right", "l"}, Label: "→ l", Group: "Move",
			Help: "right (also unwrapped logs)", Scopes: lists},
		{Action: Top, Keys: []string{"g", "home"}, Group: "Move", Help: "first", Scopes: lists},
		{Action: Bottom, Keys: []string{"G", "end"}, Group: "Move", Help: "last; follow the log", Scopes: lists},
		{Action: PageUp, Keys: []string{"pgup", "ctrl+u"}, Group: "Move", Help: "page up", Scopes: lists},
		{Action: PageDown, Keys: []string{"pgdown", "ctrl+d", "space"}, Group: "Move", Help: "page down",
			Scopes: lists},
		{Action: Open, Keys: []string{"enter"}, Group: "Move", Help: "go into it", Scopes: anywhere},
		{Action: Back, Keys: []string{"esc"}, Group: "Move", Help: "back to what is running", Scopes: anywhere},

		{Action: ShowResources, Keys: []string{"t"}, Short: "resources", Rank: 11, Group: "Look",
			Help: "tree of resources, health, drift", Scopes: anywhere},
		{Action: Search, Keys: []string{"/"}, Short: "search", Rank: 5, Group: "Look", Help: "search",
			Scopes: []Scope{Log, Deployment}},
		{Action: NextMatch, Keys: []string{"n"}, Group: "Look", Help: "next match; next problem",
			Scopes: []Scope{Log, Deployment, Resources}},
		{Action: PreviousMatch, Keys: []string{"N"}, Group: "Look", Help: "previous match or problem",
			Scopes: []Scope{Log, Deployment, Resources}},
		{Action: Follow, Keys: []string{"f"}, Short: "follow", Rank: 6, Group: "Look",
			Help: "follow the end of the log", Scopes: []Scope{Log, Deployment}},
		{Action: Wrap, Keys: []string{"w"}, Short: "wrap", Rank: 7, Group: "Look", Help: "wrap long lines",
			Scopes: append(log, Deployment)},

		{Action: Help, Keys: []string{"?"}, Short: "help", Rank: 0, Group: "Leave", Help: "this help",
			Scopes: everywhere},
		{Action: Quit, Keys: []string{"q"}, Short: "leave", Rank: 0, Group: "Leave",
			Help: "leave, or tear down", Scopes: everywhere},
		{Action: Interrupt, Keys: []string{"ctrl+c"}, Group: "Leave", Help: "leave; twice: at once",
			Scopes: append(everywhere, QuitDialog, ConfirmDialog, ChoiceDialog, HelpOverlay)},
		{Action: StartAgain, Keys: []string{"u"}, Group: "Leave", Help: "start it again", Scopes: everywhere},

		{Action: Open, Keys: []string{"tab", "enter", "esc"}, Short: "main screen", Rank: 1,
			Help: "leave the start-up steps for the main screen", Scopes: []Scope{Startup}},

		{Action: KeepRunning, Keys: []string{"y"}, Help: "leave, keep the environment running",
			Scopes: []Scope{QuitDialog}},
		{Action: TearDown, Keys: []string{"t"}, Help: "leave and tear the environment down",
			Scopes: []Scope{QuitDialog}},
		{Action: Stay, Keys: []string{"esc", "q", "s"}, Label: "esc", Short: "stay", Rank: 1, Help: "stay",
			Scopes: []Scope{QuitDialog}},
		{Action: Up, Keys: []string{"up", "shift+tab", "k"}, Help: "up", Scopes: dialogs},
		{Action: Down, Keys: []string{"down", "tab", "j"}, Help: "down", Scopes: dialogs},
		{Action: Open, Keys: []string{"enter"}, Short: "choose", Help: "choose", Scopes: dialogs},
		{Action: Pick, Keys: []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}, Help: "this choice",
			Scopes: []Scope{ChoiceDialog}},
		{Action: Yes, Keys: []string{"y"}, Help: "yes", Scopes: []Scope{ConfirmDialog}},
		{Action: Otherwise, Keys: []string{"r"}, Help: "yes, the other way: with or without a rollback",
			Scopes: []Scope{ConfirmDialog}},
		{Action: No, Keys: []string{"n", "esc", "q"}, Label: "esc", Short: "no", Rank: 1, Help: "no",
			Scopes: []Scope{ConfirmDialog, ChoiceDialog}},
		{Action: Back, Keys: []string{"esc", "q", "?", "enter"}, Short: "close", Help: "close",
			Scopes: []Scope{HelpOverlay}},
	}
}
