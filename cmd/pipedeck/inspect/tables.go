// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/state"
)

// tableCommand shows a part of the environment's state, as a table or as JSON.
//
// note, unless nil, adds a line for users to standard error; "" adds none.
func tableCommand(t *session.Target, use, short string, rows func(*session.State) ([]string, [][]string),
	objects func(*session.State) any, note func(*session.State) string) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		Example: "  pipedeck " + use + "\n  pipedeck " + use + " -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return t.Run(cmd, func(_ context.Context, s *session.Session) error {
				if note != nil && note(s.State) != "" {
					fmt.Fprintln(s.Err, note(s.State))
				}
				if output == "json" {
					return format.JSON(s.Out, objects(s.State))
				}
				header, body := rows(s.State)
				return format.Table(s.Out, header, body)
			})
		},
	}
	format.AddFlag(cmd, &output)
	return cmd
}

func newAppsCommand(t *session.Target) *cobra.Command {
	return tableCommand(t, "apps", "List the applications", func(s *session.State) ([]string, [][]string) {
		var body [][]string
		for _, a := range s.Applications() {
			body = append(body, []string{s.PipedName(a.PipedId), a.Name, reader.Name(a.Sync), healthWord(a),
				line.Commit(a.RunningCommit), strings.Join(a.RunningVersions, ","), a.Path, reason(s, a)})
		}
		return withPipeds(s, []string{"PIPED", "NAME", "SYNC", "HEALTH", "COMMIT", "VERSIONS", "PATH", "REASON"}, body)
	}, func(s *session.State) any {
		list := []format.Extended{}
		for _, a := range s.Applications() {
			problem := ""
			if p := s.ProblemOf(a.GetId()); p != nil {
				problem = p.GetReason()
			}
			list = append(list, format.Extended{Message: a, More: map[string]any{"problem": problem}})
		}
		return list
	}, nil)
}

// healthWord is the health of an application as the UI names it. PipeCD calls what is not healthy OTHER.
func healthWord(a *deckv1.Application) string {
	if a.GetHealth() == deckv1.HealthStatus_HEALTH_STATUS_OTHER {
		return "UNHEALTHY"
	}
	return reader.Name(a.GetHealth())
}

// reason says why an application is not as it should be: its sync state, and its configuration.
func reason(s *session.State, a *deckv1.Application) string {
	reason, p := a.GetSyncShortReason(), s.ProblemOf(a.GetId())
	switch {
	case p == nil:
		return reason
	case strings.HasPrefix(reason, p.GetReason()):
		return reason
	case strings.HasPrefix(p.GetReason(), reason): // also when there is none
		return p.GetReason()
	}
	return p.GetReason() + "; " + reason
}

func newDeploymentsCommand(t *session.Target) *cobra.Command {
	return tableCommand(t, "deployments", "List the deployments, the newest first",
		func(s *session.State) ([]string, [][]string) {
			var body [][]string
			for _, d := range s.AllDeployments() {
				body = append(body, []string{d.Id, d.ApplicationName, reader.Name(d.Status),
					line.Commit(d.GetCommit().GetHash()), took(d.CreatedAt,
						d.CompletedAt), stagesLine(d), chainLine(d), deploymentReason(s, d)})
			}
			return []string{"ID", "APPLICATION", "STATUS", "COMMIT", "TOOK", "STAGES", "CHAIN", "REASON"}, body
		}, func(s *session.State) any { return s.AllDeployments() }, forgotten)
}

// deploymentReason is why a deployment has its status, or what it waits for.
func deploymentReason(s *session.State, d *deckv1.Deployment) string {
	if ahead := s.Ahead(d); ahead != nil {
		return "waits for the end of the deployment of commit " + line.Commit(ahead.GetCommit().GetHash())
	}
	return d.GetStatusReason()
}

// forgotten says that an environment may have had more deployments than it keeps; "" when it has kept all.
func forgotten(s *session.State) string {
	all, most := 0, 0
	for _, a := range s.Applications() {
		n := len(s.Deployments(a.GetId()))
		all, most = all+n, max(most, n)
	}
	if all < store.KeptDeployments && most < store.KeptPerApplication {
		return ""
	}
	return fmt.Sprintf("older deployments are not listed: an environment keeps the newest %d of an application, "+
		"and %d in all",
		store.KeptPerApplication, store.KeptDeployments)
}

func newPluginsCommand(t *session.Target) *cobra.Command {
	return tableCommand(t, "plugins", "List the plugin processes", func(s *session.State) ([]string, [][]string) {
		var body [][]string
		for _, p := range s.Plugins() {
			body = append(body, []string{
				s.PipedName(p.PipedId), p.Name, reader.Name(p.State), fmt.Sprint(p.Pid), fmt.Sprint(p.Restarts),
				memoryUse(p), fmt.Sprintf("%.1f %%", p.CpuPercent),
				fmt.Sprint(p.OpenFiles), fmt.Sprint(p.Threads), known(p.Goroutines), strings.Join(p.Stages, ","),
				p.Detail,
			})
		}
		return withPipeds(s, []string{"PIPED", "NAME", "STATE", "PID", "RESTARTS", "MEMORY", "CPU", "FILES", "THREADS",
			"GOROUTINES", "STAGES", "DETAIL"}, body)
	}, func(s *session.State) any { return s.Plugins() }, nil)
}

// withPipeds leaves out the first column, the piped, where there is only one.
func withPipeds(s *session.State, header []string, body [][]string) ([]string, [][]string) {
	if len(s.Pipeds()) > 1 {
		return header, body
	}
	for i := range body {
		body[i] = body[i][1:]
	}
	return header[1:], body
}

// known shows a number that not every plugin reports.
func known(n uint32) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// memoryUse shows the limit, too, where there is one.
func memoryUse(p *deckv1.Plugin) string {
	used := fmt.Sprintf("%.1f MiB", float64(p.GetRssBytes())/(1<<20))
	if p.GetMemoryLimitBytes() > 0 {
		used += fmt.Sprintf(" of %d MiB", p.GetMemoryLimitBytes()>>20)
	}
	return used
}

// took is the time between two moments, up to now when there is no end.
func took(from, to *timestamppb.Timestamp) string {
	if from == nil {
		return ""
	}
	end := time.Now()
	if to != nil {
		end = to.AsTime()
	}
	d := end.Sub(from.AsTime())
	if d < 10*time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// stagesLine counts the stages that have ended and names those that run.
func stagesLine(d *deckv1.Deployment) string {
	var running []string
	done, total := 0, 0
	for _, s := range d.Stages {
		if s.Rollback && s.Status == deckv1.StageStatus_STAGE_STATUS_NOT_STARTED {
			continue
		}
		total++
		switch s.Status {
		case deckv1.StageStatus_STAGE_STATUS_RUNNING:
			running = append(running, state.StageWord(s))
		case deckv1.StageStatus_STAGE_STATUS_NOT_STARTED:
		default:
			done++
		}
	}
	return strings.TrimSpace(fmt.Sprintf("%d/%d %s", done, total, strings.Join(running, ",")))
}

// chainLine names the deployment chain by the beginning of its id, and the block in it.
func chainLine(d *deckv1.Deployment) string {
	if d.ChainId == "" {
		return ""
	}
	return fmt.Sprintf("%s block %d", d.ChainId[:min(8, len(d.ChainId))], d.ChainBlock)
}
