// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/state"
)

// listing is a list in all its forms.
type listing struct {
	document func() any
	// names are words that other commands accept.
	names []string
	table format.Table
	// note is a line for users, which goes to standard error; empty for none.
	note string
}

// listCommand lists a part of the environment's state.
func listCommand(t *session.Target, use, short string, list func(*session.State) listing) *cobra.Command {
	var output format.Output
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		Example: "  pipedeck " + use + "\n  pipedeck " + use + " -o wide\n  pipedeck " + use + " -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return t.Run(cmd, func(_ context.Context, s *session.Session) error {
				l := list(s.State)
				l.name(s.Flags)
				if l.note != "" {
					fmt.Fprintln(s.Err, l.note)
				}
				noteStarting(s, len(l.names))
				return output.List(s.Out, l.document, l.names, l.table)
			})
		},
	}
	format.AddListFlags(cmd, &output)
	return cmd
}

// name has the commands in texts name their environment.
func (l *listing) name(flags string) {
	for i, column := range l.table.Columns {
		for _, row := range l.table.Rows {
			if column.Text {
				row[i] = line.WithFlags(row[i], flags)
			}
		}
	}
}

func newAppsCommand(t *session.Target) *cobra.Command {
	return listCommand(t, "apps", "List the applications", listApplications)
}

func listApplications(s *session.State) listing {
	l := listing{table: format.Table{Columns: []format.Column{
		{Head: "PIPED", Yield: 3, Least: 8, Drop: 4}, {Head: repositoryHead, Yield: 6, Least: 8, Drop: 7},
		{Head: "NAME", Yield: 1, Least: 12}, {Head: "SYNC", State: true}, {Head: "HEALTH", State: true},
		{Head: "COMMIT", Drop: 3}, {Head: "VERSIONS", Yield: 4, Least: 8, Drop: 5},
		{Head: "PATH", Yield: 5, Least: 8, Drop: 6}, {Head: "REASON", Text: true},
		{Head: "ID", Wide: true}, {Head: "TARGETS", Wide: true},
	}}}
	for _, a := range s.Applications() {
		l.names = append(l.names, s.ApplicationArgument(a))
		l.table.Rows = append(l.table.Rows, []string{
			s.PipedName(a.PipedId), document.RepositoryOf(a), a.Name, document.Word(a.Sync),
			document.Health(a.GetHealth()), line.Commit(a.RunningCommit), strings.Join(a.RunningVersions, ","), a.Path,
			withNextStep(reason(s, a), s.ProblemOf(a.GetId()).GetNextStep()), a.GetId(),
			strings.Join(a.GetDeployTargets(), ",")})
	}
	withRepositories(s, &l.table)
	withPipeds(s, &l.table)
	l.document = func() any {
		all := document.Applications{Head: document.NewHead(), Applications: []document.Application{}}
		for _, a := range s.Applications() {
			all.Applications = append(all.Applications, document.NewApplication(a, s.ProblemOf(a.GetId())))
		}
		return all
	}
	return l
}

// reason says why an application is not as it should be: its sync state, and its configuration.
func reason(s *session.State, a *deckv1.Application) string {
	reason, p := joinedReason(s, a), s.ProblemOf(a.GetId())
	switch {
	case p == nil, a.GetSync() == deckv1.SyncStatus_SYNC_STATUS_ORPHANED: // which is the problem
		return reason
	case strings.HasPrefix(reason, p.GetReason()):
		return reason
	case strings.HasPrefix(p.GetReason(), reason): // also when there is none
		return p.GetReason()
	}
	return p.GetReason() + "; " + reason
}

// withNextStep is a sentence with what to do, which a table shows in a separate line where it has no room.
func withNextStep(sentence, step string) string {
	if step == "" {
		return sentence
	}
	return sentence + "; next step: " + step
}

// joinedReason is why an application is not in sync, then why it is not healthy, unless that is the same.
func joinedReason(s *session.State, a *deckv1.Application) string {
	sync, health := syncReason(s, a), a.GetHealthReason()
	switch {
	case health == "" || strings.HasPrefix(health, sync) && sync != "":
		return cmp.Or(health, sync)
	case sync == "":
		return health
	}
	return sync + "; " + health
}

// syncReason is why an application is not in sync, in short. After a deployment that did not succeed it is followed by
// why it did not.
func syncReason(s *session.State, a *deckv1.Application) string {
	short, whole := a.GetSyncShortReason(), a.GetSyncReason()
	if deployments := s.Deployments(a.GetId()); len(deployments) > 0 && short != "" {
		if why := deployments[0].GetStatusReason(); isUnsuccessful(deployments[0]) && why != "" && whole == why {
			return short + ": " + why
		}
	}
	return short
}

func isUnsuccessful(d *deckv1.Deployment) bool {
	switch d.GetStatus() {
	case deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_CANCELLED:
		return true
	}
	return false
}

func newDeploymentsCommand(t *session.Target) *cobra.Command {
	return listCommand(t, "deployments", "List the deployments, the newest first", listDeployments)
}

func listDeployments(s *session.State) listing { return deploymentList(s, s.EveryDeployment()) }

// deploymentList lists deployments in their order.
func deploymentList(s *session.State, deployments []*deckv1.Deployment) listing {
	l := listing{note: forgotten(s), table: format.Table{Columns: []format.Column{
		{Head: "ID", ID: true, Yield: 4}, {Head: "APPLICATION", Yield: 1, Least: 12}, {Head: "STATUS", State: true},
		{Head: "COMMIT"}, {Head: "TOOK", Drop: 2}, {Head: "STAGES", Yield: 3, Least: 8, Drop: 3},
		{Head: "CHAIN", Yield: 5, Least: 8, Drop: 4}, {Head: "REASON", Text: true},
		{Head: "STRATEGY", Wide: true}, {Head: "BY", Wide: true}, {Head: "CREATED", Wide: true},
		{Head: "FOR", Wide: true},
	}}}
	for _, d := range deployments {
		l.names = append(l.names, d.GetId())
		l.table.Rows = append(l.table.Rows, []string{d.Id, d.ApplicationName, document.Word(d.Status),
			line.Commit(d.GetCommit().GetHash()), rounded(state.DeploymentTook(d, time.Now())), stagesLine(d),
			chainLine(d),
			deploymentReason(s, d), d.GetStrategy(), cmp.Or(d.GetCommander(), d.GetCommit().GetAuthor()),
			created(d), kindOf(d)})
	}
	l.document = func() any {
		all := document.Deployments{Head: document.NewHead(), Deployments: []document.Deployment{}}
		for _, d := range deployments {
			all.Deployments = append(all.Deployments, document.WithStages(d, s.Ahead(d)))
		}
		return all
	}
	return l
}

func created(d *deckv1.Deployment) string {
	if d.GetCreatedAt() == nil {
		return ""
	}
	return d.GetCreatedAt().AsTime().Local().Format(time.DateTime)
}

// deploymentReason is why a deployment has its status, or what it waits for.
func deploymentReason(s *session.State, d *deckv1.Deployment) string {
	if ahead := s.Ahead(d); ahead != nil {
		return "waits for the end of the deployment of commit " + line.Commit(ahead.GetCommit().GetHash())
	}
	if paused := state.DeploymentPauses(d); len(paused) > 0 {
		return strings.Join(paused, "; ")
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

// withPipeds leaves out the first column, the piped, where there is only one.
func withPipeds(s *session.State, table *format.Table) {
	if len(s.Pipeds()) > 1 {
		return
	}
	without(table, 0)
}

// repositoryHead is the head of the column of repositories.
const repositoryHead = "REPOSITORY"

// withRepositories leaves out the second column, the repository, where there is only one.
func withRepositories(s *session.State, table *format.Table) {
	repositories := map[string]bool{}
	for _, a := range s.Applications() {
		repositories[document.RepositoryOf(a)] = true
	}
	if len(repositories) < 2 {
		without(table, 1)
	}
}

// without leaves a column out.
func without(table *format.Table, column int) {
	table.Columns = slices.Delete(table.Columns, column, column+1)
	for i := range table.Rows {
		table.Rows[i] = slices.Delete(table.Rows[i], column, column+1)
	}
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
	return rounded(end.Sub(from.AsTime()))
}

func rounded(d time.Duration) string {
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
