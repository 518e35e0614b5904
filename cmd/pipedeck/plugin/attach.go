// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/limit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost/reattach"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/state"
)

// atOnce is how long a process may take to work for piped that waits already.
const atOnce = 2 * time.Second

func newAttachCommand(t *session.Target) *cobra.Command {
	var output format.Output
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "attach NAME[=ADDRESS[,pid=PID][,token=TOKEN]]", Short: "Use a plugin process that you have started",
		Long: `Use a process that you have started, such as by F5 in an editor, in place of the plugin's own. The
command waits until the process works for piped.

NAME alone is for a plugin of our SDK: run its program with "reattach", or: go run . reattach. Each
process that you start like this is used, until: pipedeck plugin detach NAME. Another plugin needs the
ADDRESS where it serves, and the arguments that the command prints.

Your process is never ended by piped. When it has ended, the plugin's own program runs again.`,
		Example: `  pipedeck plugin attach greeter
  pipedeck plugin attach greeter=127.0.0.1:43211
  pipedeck plugin attach 'greeter=127.0.0.1:43211,pid=4711,token=KDJ3'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			target, err := reattach.Parse(args[0])
			if err != nil {
				return exit.Usage(err, "see: pipedeck plugin attach --help")
			}
			return t.RunLong(cmd, func(ctx context.Context, s *session.Session) error {
				plugin, err := attachable(s, target.Plugin)
				if err != nil {
					return err
				}
				w, err := t.Workspace()
				if err != nil {
					return err
				}
				if err := reattach.WriteFile(workspace.ReattachFile(w), target.Plugin, &target); err != nil {
					return fmt.Errorf("attach plugin %q: %w", target.Plugin, err)
				}
				works := func(p *deckv1.Plugin) bool {
					return p.GetAttached() != "" && (target.Address == "" || p.GetAttached() == target.Address)
				}
				soon, stop := context.WithTimeout(ctx, atOnce)
				defer stop()
				if _, err := awaitPlugin(soon, s, target.Plugin, works); err != nil {
					if err := explainStart(s, w, plugin, target); err != nil {
						return err
					}
				}
				bounded, cancel := context.WithTimeout(ctx, timeout)
				defer cancel()
				plugin, err = awaitPlugin(bounded, s, target.Plugin, works)
				if err != nil {
					return notAttached(ctx, s, plugin, timeout, err)
				}
				return printChange(s, &output, "attach", plugin, fmt.Sprintf(
					"plugin %s: the process at %s works for piped", target.Plugin, plugin.GetAttached()))
			})
		},
	}
	limit.Var(cmd.Flags(), &timeout, "timeout", 10*time.Minute, "give up after this time")
	format.AddFlag(cmd, &output)
	return cmd
}

func newDetachCommand(t *session.Target) *cobra.Command {
	var output format.Output
	cmd := &cobra.Command{
		Use: "detach NAME", Short: "Use the plugin's own program again",
		Long:    "Use the plugin's own program again. The process that was attached is not ended.",
		Example: "  pipedeck plugin detach greeter", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.Run(cmd, func(ctx context.Context, s *session.Session) error {
				if _, err := attachable(s, args[0]); err != nil {
					return err
				}
				w, err := t.Workspace()
				if err != nil {
					return err
				}
				if err := reattach.WriteFile(workspace.ReattachFile(w), args[0], nil); err != nil {
					return fmt.Errorf("detach plugin %q: %w", args[0], err)
				}
				plugin, err := awaitPlugin(ctx, s, args[0], func(p *deckv1.Plugin) bool {
					return p.GetAttached() == ""
				})
				if err != nil {
					return err
				}
				return printChange(s, &output, "detach", plugin, "plugin "+args[0]+": its own program runs")
			})
		},
	}
	format.AddFlag(cmd, &output)
	return cmd
}

// attachable returns a plugin of the environment's own piped, which has to know attached processes.
func attachable(s *session.Session, name string) (*deckv1.Plugin, error) {
	var names []string
	for _, p := range s.State.Plugins() {
		own := slices.ContainsFunc(s.State.Pipeds(), func(of *deckv1.Piped) bool {
			return of.GetId() == p.GetPipedId() && of.GetOwn()
		})
		switch {
		case !own:
		case p.GetName() != name:
			names = append(names, p.GetName())
		case p.GetPipedService() == "":
			return nil, exit.Usage(errors.New("this piped cannot use a process that you have started"),
				"run pipedeck's own piped: leave out --piped")
		default:
			return p, nil
		}
	}
	return nil, exit.Usage(fmt.Errorf("no plugin is named %q", name), session.Choices("plugin", names)+
		"; or add it: pipedeck up --plugin "+name+"=DIR")
}

// explainStart says how the process has to be started that the command waits for.
func explainStart(s *session.Session, w *workspace.Workspace, p *deckv1.Plugin, target reattach.Target) error {
	if target.Address == "" {
		_, err := fmt.Fprintf(s.Err, "waiting for plugin %s: start its program with \"reattach\", such as: go run . "+
			"reattach\n", p.GetName())
		return err
	}
	file, err := writeSettings(w, p.GetName(), target.Address)
	if err != nil || file == "" {
		return err
	}
	_, err = fmt.Fprintf(s.Err, "waiting for plugin %s at %s; a plugin without our SDK is started with: PROGRAM start "+
		"--piped-plugin-service %s --config \"$(cat %s)\"\n", p.GetName(), target.Address, p.GetPipedService(), file)
	return err
}

// writeSettings writes what piped would give as --config to a process that listens at an address, for the user alone.
func writeSettings(w *workspace.Workspace, name, address string) (file string, err error) {
	piped, err := config.LoadPiped(w.PipedConfig())
	if err != nil {
		return "", fmt.Errorf("read the configuration of plugin %q: %w", name, err)
	}
	i := slices.IndexFunc(piped.Plugins, func(p config.Plugin) bool { return p.Name == name })
	if i < 0 {
		return "", nil
	}
	_, text, _ := net.SplitHostPort(address)
	port, err := strconv.Atoi(text)
	if err != nil {
		return "", err
	}
	settings := sdk.Settings{Name: name, URL: piped.Plugins[i].URL, Port: port, Config: piped.Plugins[i].Config}
	for _, target := range piped.Plugins[i].DeployTargets {
		settings.DeployTargets = append(settings.DeployTargets,
			sdk.DeployTargetConfig{Name: target.Name, Labels: target.Labels, Config: target.Config})
	}
	data, err := json.Marshal(settings)
	if err != nil {
		return "", err
	}
	file = filepath.Join(filepath.Dir(workspace.ReattachFile(w)), name+".config.json")
	return file, workspace.WriteFile(file, data)
}

// awaitPlugin returns the plugin once it is as wanted; with an error, as it was last.
func awaitPlugin(ctx context.Context, s *session.Session, name string, wanted func(*deckv1.Plugin) bool) (
	*deckv1.Plugin, error,
) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := s.Deck.Watch(ctx, &deckv1.WatchRequest{})
	if err != nil {
		return nil, session.Unreachable(err)
	}
	var last *deckv1.Plugin
	for now := state.New(); ; {
		answer, err := stream.Recv()
		if err != nil {
			return last, err
		}
		for _, event := range answer.GetEvents() {
			now.Apply(event)
		}
		for _, p := range now.Plugins() {
			if p.GetName() != name || p.GetPipedService() == "" {
				continue
			}
			if last = p; now.Synced() && wanted(p) {
				return p, nil
			}
		}
	}
}

// notAttached explains why the process does not work for piped.
func notAttached(ctx context.Context, s *session.Session, p *deckv1.Plugin, waited time.Duration, err error) error {
	if p == nil || ctx.Err() != nil {
		return session.Unreachable(err)
	}
	return exit.With(exit.TimedOut, fmt.Errorf("plugin %q: no process was attached within %s: %s", p.GetName(), waited,
		p.GetDetail()), "start it: piped still waits for it; to wait no more, run: pipedeck plugin detach "+p.GetName()+
		s.Flags)
}

func printChange(s *session.Session, output *format.Output, action string, p *deckv1.Plugin, text string) error {
	if output.Machine() {
		return output.Document(s.Out, document.Action{Head: document.NewHead(), Action: action, Plugin: p.GetName(),
			Piped: p.GetPipedId(), Text: text})
	}
	_, err := fmt.Fprintln(s.Out, text)
	return err
}
