// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane/client"
)

// configure adds lines to the spec of the piped configuration.
func (e *environment) configure(t *testing.T, lines string) {
	t.Helper()
	file, err := os.OpenFile(e.config, os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = file.WriteString(lines)
	require.NoError(t, err)
	require.NoError(t, file.Close())
}

func TestAWebhookHearsOfAllThatHappens(t *testing.T) {
	t.Parallel()
	types := make(chan int, 100)
	site := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var event struct {
			Type     int
			Metadata struct {
				Deployment struct {
					Name string `json:"application_name"`
				} `json:"deployment"`
			}
		}
		if json.NewDecoder(r.Body).Decode(&event) == nil &&
			(event.Type >= 100 || event.Metadata.Deployment.Name == "app") &&
			r.Header.Get("PipeCD-Signature") == "s" {
			types <- event.Type
		}
	}))
	t.Cleanup(site.Close)
	e := newEnvironment(t, pipeline("{log: hello}", "{}"))
	e.configure(t, fmt.Sprintf(`  notifications:
    receivers: [{name: hook, webhook: {url: "%s", signatureValue: s}}]
    routes: [{receiver: hook, groups: [DEPLOYMENT, STAGE, PIPED]}]
`, site.URL))
	p := e.start(t)
	e.deck.awaitEnd(t, 0)
	p.terminate(t)

	var heard []int
	for last := 0; last != 301; heard = append(heard, last) {
		select {
		case last = <-types:
		case <-time.After(wait):
			require.Fail(t, "the end of piped was not heard of", "%v", heard)
		}
	}
	require.Equal(t, []int{300, 0, 1, 9, 400, 402, 400, 402, 4, 301}, heard,
		"piped started; triggered, planned, started; two stages started and succeeded; succeeded; piped stopped")
}

func TestApprovalsAndCancellationsAreReportedWithTheirNames(t *testing.T) {
	t.Parallel()
	type report struct {
		Type     int
		Metadata struct {
			Approver, Commander string
			Accounts            []string `json:"mentioned_accounts"`
		}
	}
	events := make(chan report, 100)
	site := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var event report
		if json.NewDecoder(r.Body).Decode(&event) == nil {
			events <- event
		}
	}))
	t.Cleanup(site.Close)
	e := newEnvironment(t, `apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  name: app
  notification: {
	mentions: [{event: DEPLOYMENT_WAIT_APPROVAL, slackusers: [U1]}, {event: DEPLOYMENT_CANCELLED, slackusers: [U2]}],
}
  pipeline:
    stages:
      - {name: WAIT_APPROVAL, with: {approvers: [ada]}}
      - {name: WAIT_APPROVAL, with: {approvers: [ada]}}
`)
	e.configure(t, fmt.Sprintf(`    - {name: waitapproval, url: "file://%s", port: 0}
  notifications:
    receivers: [{name: hook, webhook: {url: "%s"}}]
    routes: [{receiver: hook, events: [DEPLOYMENT_WAIT_APPROVAL, DEPLOYMENT_APPROVED, DEPLOYMENT_CANCELLED]}]
`, bundled["waitapproval"], site.URL))
	e.start(t)
	conn, err := client.Dial(e.address, apiKey)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	user := deckv1.NewDeckServiceClient(conn)
	next := func(kind int) report {
		t.Helper()
		select {
		case event := <-events:
			require.Equal(t, kind, event.Type)
			return event
		case <-time.After(wait):
			require.Fail(t, "no event", "%d", kind)
			return report{}
		}
	}

	require.Equal(t, []string{"U1"}, next(7).Metadata.Accounts)
	d := e.deck.awaitStage(t, 0, deckv1.StageStatus_STAGE_STATUS_RUNNING)
	_, err = user.ApproveStage(
		t.Context(),
		&deckv1.ApproveStageRequest{DeploymentId: d.GetId(), StageId: d.GetStages()[0].GetId(), Commander: "ada"},
	)
	require.NoError(t, err)
	require.Equal(t, "ada", next(2).Metadata.Approver)
	next(7)
	_, err = user.CancelDeployment(
		t.Context(), &deckv1.CancelDeploymentRequest{DeploymentId: d.GetId(), Commander: "bob"},
	)
	require.NoError(t, err)
	cancelled := next(6)
	require.Equal(t, "bob", cancelled.Metadata.Commander)
	require.Equal(t, []string{"U2"}, cancelled.Metadata.Accounts)
}

func TestAReceiverThatRefusesIsAProblemUntilItTakesANotification(t *testing.T) {
	t.Parallel()
	var takes atomic.Bool
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !takes.Load() {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	t.Cleanup(site.Close)
	e := newEnvironment(t, pipeline("{log: hello}"))
	e.configure(t, fmt.Sprintf(`  notifications:
    receivers: [{name: hook, webhook: {url: "%s/secret-path", signatureValue: s}}]
    routes: [{receiver: hook, groups: [DEPLOYMENT]}]
`, site.URL))
	e.start(t)
	e.deck.awaitEnd(t, 0)
	problem := e.deck.awaitProblem(t, "notifications hook", "403")
	require.Contains(t, problem.GetNextStep(), "spec.notifications")
	require.NotContains(t, problem.GetReason(), "secret-path")

	takes.Store(true)
	e.commit(t, "again", pipeline("{log: again}"))
	e.deck.awaitEnd(t, 1)
	e.deck.awaitNoProblem(t)
}
