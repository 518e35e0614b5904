// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ci

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// ask is a stage that waits for approvals.
func ask(approvers []string, needed int32, by ...string) *deckv1.Stage {
	return &deckv1.Stage{Id: "s1", Name: "WAIT_APPROVAL", ConfigId: "ask", CanApprove: true,
		Status: deckv1.StageStatus_STAGE_STATUS_RUNNING, Approvers: approvers, ApprovalsNeeded: needed, ApprovedBy: by}
}

// attended is what an attendant does for the states of a stage, one after the other: who approves or what is skipped,
// and what is said.
func attended(t *testing.T, actions Actions, refusal error, stages ...*deckv1.Stage) (calls, said []string) {
	t.Helper()
	server := decktest.Start(t)
	if refusal != nil {
		server.Refuse(refusal)
	}
	deck := server.Dial(t)
	say := func(line string) { said = append(said, line) }
	a := newAttendant(actions, say, say, " --name x")
	for _, stage := range stages {
		a.attend(t.Context(), deck, deckOf(app("web", synced, ""), deployed("web", head, 1, running, stage)))
	}
	for len(server.Calls) > 0 {
		switch call := (<-server.Calls).(type) {
		case *deckv1.ApproveStageRequest:
			require.Equal(t, approver, call.GetUser(), "the record shows who is behind the name")
			calls = append(calls, call.GetCommander())
		case *deckv1.SkipStageRequest:
			calls = append(calls, "skip "+call.GetStageId())
		}
	}
	return calls, said
}

func TestStagesAreApprovedUntilThereAreEnough(t *testing.T) {
	t.Parallel()
	auto := Actions{Approve: true}
	for name, c := range map[string]struct {
		actions Actions
		stages  []*deckv1.Stage
		calls   []string
		said    string
	}{
		"anyone": {auto, []*deckv1.Stage{ask(nil, 0), ask(nil, 0)}, []string{"pipedeck-ci"}, ""},
		"any two users": {auto, []*deckv1.Stage{ask(nil, 0), ask(nil, 2), ask(nil, 2, "pipedeck-ci")},
			[]string{"pipedeck-ci", "pipedeck-ci-2"}, ""},
		"the named ones": {auto, []*deckv1.Stage{ask([]string{"ann", "bob", "cay"}, 0),
			ask([]string{"ann", "bob", "cay"}, 2), ask([]string{"bob", "cay"}, 2, "ann")}, []string{"ann", "bob"}, ""},
		"one who has approved already": {auto, []*deckv1.Stage{ask([]string{"bob"}, 2, "ann")}, []string{"bob"}, ""},
		"as one of them": {Actions{Approve: true, As: "bob"}, []*deckv1.Stage{ask([]string{"ann", "bob"}, 0)},
			[]string{"bob"}, ""},
		"as one of two": {Actions{Approve: true, As: "bob"}, []*deckv1.Stage{ask([]string{"ann", "bob"}, 2)},
			[]string{"bob"}, "web: stage ask waits for 2 approvals of ann or bob; approve it now with: pipedeck " +
				"approve web ask --as ann --name x; or run it again with --approve auto"},
		"as another one": {Actions{Approve: true, As: "eve"}, []*deckv1.Stage{ask([]string{"ann", "bob"}, 0)}, nil,
			"waits for an approval of ann or bob"},
		"never": {Actions{}, []*deckv1.Stage{ask(nil, 0), ask(nil, 0)}, nil,
			"web: stage ask waits for an approval; approve it now with: pipedeck approve web ask --name x; or run it " +
				"again with --approve auto"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls, said := attended(t, c.actions, nil, c.stages...)
			require.Equal(t, c.calls, calls)
			if c.said == "" {
				require.Empty(t, said)
				return
			}
			require.Len(t, said, 1, "it is named once")
			require.Contains(t, said[0], c.said)
		})
	}
}

func TestAnApprovalThatIsRefusedIsSaid(t *testing.T) {
	t.Parallel()
	_, said := attended(t, Actions{Approve: true}, status.Error(codes.FailedPrecondition, "no"), ask(nil, 0))
	require.Equal(t, []string{"web: stage ask cannot be approved as pipedeck-ci: no"}, said)
}

func TestWaitsAreShortenedWhereTheirPluginAllowsIt(t *testing.T) {
	t.Parallel()
	wait := &deckv1.Stage{Id: "w", Name: "WAIT", CanSkip: true, Status: deckv1.StageStatus_STAGE_STATUS_RUNNING}
	fast := Actions{FastWait: true}
	calls, said := attended(t, fast, nil, wait, wait)
	require.Equal(t, []string{"skip w"}, calls)
	require.Equal(t, []string{"web: stage WAIT is shortened, because of --wait fast"}, said)

	calls, said = attended(t, Actions{}, nil, wait)
	require.Empty(t, calls)
	require.Empty(t, said)

	_, said = attended(t, fast, status.Error(codes.FailedPrecondition, "it has ended"), wait)
	require.Empty(t, said, "it has ended by itself")
	_, said = attended(t, fast, status.Error(codes.Internal, "broken"), wait)
	require.Equal(t, []string{"web: stage WAIT cannot be shortened: broken"}, said)

	calls, said = attended(t, fast, nil,
		&deckv1.Stage{Id: "w", Name: "WAIT", Status: deckv1.StageStatus_STAGE_STATUS_RUNNING},
		&deckv1.Stage{Id: "a", Name: "ANALYSIS", CanSkip: true, Status: deckv1.StageStatus_STAGE_STATUS_RUNNING})
	require.Empty(t, calls, "other stages are not skipped")
	require.Len(t, said, 1)
	require.Contains(t, said[0], "web: stage WAIT is not shortened: its plugin does not allow it")
}

func TestFlagsForStagesThatWaitAreRead(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]Actions{
		"never full": {}, "auto full": {Approve: true}, "as:ann fast": {Approve: true, As: "ann", FastWait: true},
	} {
		approve, wait, _ := strings.Cut(given, " ")
		got, err := ParseActions(approve, wait)
		require.NoError(t, err, given)
		require.Equal(t, want, got, given)
	}
	for _, given := range []string{"yes full", "as: full", " full", "as full", "auto slow", "auto "} {
		approve, wait, _ := strings.Cut(given, " ")
		_, err := ParseActions(approve, wait)
		var failure *exit.Error
		require.ErrorAs(t, err, &failure, given)
		require.Equal(t, exit.WrongUsage, failure.Code)
		require.NotEmpty(t, failure.Hint)
	}
}
