// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane"
)

// pipectlDiffers are the differences between our answers to pipectl and those of PipeCD's control plane, as methods
// with the beginning of what differences writes, and the reason.
var pipectlDiffers = []struct{ difference, reason string }{
	{"GetDeployment deployment.status",
		"PipeCD's store writes an older copy back with each report of a stage, so a deployment that runs shows as " +
			"planned"},
	{"ListDeployments deployments[1].metadata_v2.plugins", "the same loses what plugins have stored"},
	{"ListDeployments deployments[1].stages[1].metadata", "the same"},
	{"GetPlanPreviewResults results[0].piped_url", "there are no web pages to name"},
	{"GetPlanPreviewResults results[0].results[", "the same for application_url"},
	{`ListApplications cursor: "set", ""`, "PipeCD gives a cursor after the last page too, and then an empty page"},
}

// Every call that pipectl made, with what piped did in between, gives the codes and answers that PipeCD gave.
func TestTheRecordedPipectlCommandsGiveTheSameAnswers(t *testing.T) {
	t.Parallel()
	// Applications are listed in the order of their changes, so each call has its second.
	var clock atomic.Int64
	clock.Store(1795229990)
	p := start(t, func(c *controlplane.Config) { c.Now = func() time.Time { return time.Unix(clock.Load(), 0) } })
	r := newReplayer(t)
	r.play(p.pipedConn, recording(t, "a0")[:1], nil)
	plans, sync := recording(t, "a6"), shared(t, "a1b-sync-command")
	known, unknown := map[string]bool{}, []string{}
	r.differ = func(c recorded, differences []string) {
		for _, d := range differences {
			d = c.Method[strings.LastIndexByte(c.Method, '/')+1:] + " " + d
			i := slices.IndexFunc(pipectlDiffers,
				func(e struct{ difference, reason string }) bool { return strings.HasPrefix(d, e.difference) })
			if i < 0 {
				unknown = append(unknown, fmt.Sprintf("call %d: %s", c.Seq, d))
				continue
			}
			known[pipectlDiffers[i].difference] = true
		}
	}
	upTo := func(method string, count int) []recorded {
		i := 0
		for ; i < len(sync); i++ {
			if strings.HasSuffix(sync[i].Method, "/"+method) {
				if count--; count == 0 {
					break
				}
			}
		}
		part := sync[:i+1]
		sync = sync[i+1:]
		return part
	}
	r.play(p.userConn, recording(t, "d1"), func(seq int) {
		clock.Add(1)
		quiet := newReplayer(t)
		quiet.ids = r.ids
		switch seq {
		case 15: // piped has found that a configuration says something else
			polls := shared(t, "a9-polls")
			quiet.play(p.pipedConn, polls[slices.IndexFunc(polls,
				func(c recorded) bool { return strings.HasSuffix(c.Method, "/UpdateApplicationConfigurations") }):],
				nil)
		case 16, 18, 20, 22: // what kk shows was the same for the others, but was not recorded
			application := map[int]string{16: "96", 18: "94", 20: "103", 22: "71"}[seq]
			quiet.ids = maps.Clone(r.ids)
			quiet.ids[id("47")], quiet.ids[id("48")] = r.ids[id(application)], id(fmt.Sprint(1000+seq))
			quiet.play(p.pipedConn, shared(t, "b2-k8s-no-target")[:5], nil)
		case 24:
			quiet.play(p.pipedConn, shared(t, "b2-k8s-no-target")[:5], nil)
		case 27:
			clock.Store(1795230100)
			for _, calls := range [][]recorded{
				shared(t, "b2-k8s-no-target")[5:], recording(t, "a1"), shared(t, "a3-failure-rollback"),
				shared(t, "a5-stage-timeout"),
				shared(t, "b1-analysis"), shared(t, "a4-cancel"), shared(t, "a2-approval-by-two"),
			} {
				clock.Add(1)
				quiet.play(p.pipedConn, withoutCommands(calls), nil)
			}
		case 35:
			_, err := p.piped.ReportCommandHandled(testContext(t), &pipedservice.ReportCommandHandledRequest{
				CommandId: r.ids[id("120")], Status: model.CommandStatus_COMMAND_SUCCEEDED, HandledAt: 1795230153,
				Metadata: map[string]string{"TriggeredDeploymentID": id("6")},
			})
			require.NoError(t, err)
		case 36:
			quiet.play(p.pipedConn, upTo("CreateDeployment", 1), nil)
		case 37:
			quiet.play(p.pipedConn, upTo("ReportDeploymentPlanned", 1), nil)
		case 38:
			quiet.play(p.pipedConn, upTo("SaveStageMetadata", 1), nil)
		case 39:
			quiet.play(p.pipedConn, upTo("SaveDeploymentPluginMetadata", 1), nil)
		case 40:
			quiet.play(p.pipedConn, sync, nil)
		case 42:
			quiet.play(p.pipedConn, plans[:1], nil)
		case 44:
			quiet.play(p.pipedConn, plans[1:], nil)
		case 46:
			quiet.play(p.pipedConn, shared(t, "a7b-livestate-stage-only"), nil)
		}
	})
	apps, err := p.api.ListApplications(testContext(t), &apiservice.ListApplicationsRequest{Limit: 100})
	require.NoError(t, err)
	require.Len(t, apps.GetApplications(), 14, "15 were added, one of them deleted")
	got, err := p.api.GetApplication(testContext(t), &apiservice.GetApplicationRequest{ApplicationId: r.ids[id("40")]})
	require.NoError(t, err)
	require.Equal(t, "file:///srv/pipe/run/R/repo/tree/main/sk", got.GetApplication().GetGitPath().GetUrl())
	require.Empty(t, strings.Join(unknown, "\n"), "fix it, or list the difference with a reason")
	for _, e := range pipectlDiffers {
		require.True(t, known[e.difference], "listed, but does not occur any longer: %s (%s)", e.difference, e.reason)
	}
}

// withoutCommands leaves out what users had asked for.
func withoutCommands(calls []recorded) []recorded {
	return slices.DeleteFunc(calls,
		func(c recorded) bool { return strings.HasSuffix(c.Method, "/ReportCommandHandled") })
}
