// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/state"
)

func environment(objects ...proto.Message) *session.State {
	s := &session.State{Deck: state.New()}
	for _, event := range decktest.Events(objects...) {
		s.Apply(event)
	}
	return s
}

func app(id, name, piped string) *deckv1.Application {
	return &deckv1.Application{Id: id, Name: name, PipedId: piped, Path: name,
		Sync: deckv1.SyncStatus_SYNC_STATUS_SYNCED}
}

func deployment(id, of string, status deckv1.DeploymentStatus) *deckv1.Deployment {
	return &deckv1.Deployment{Id: id, ApplicationId: of + "-id", ApplicationName: of, Status: status,
		Commit: &deckv1.Commit{Hash: "cafe" + id}}
}

const (
	success = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS
	running = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_RUNNING
)

func example() *session.State {
	return environment(app("shop-id", "shop", "p"), app("shopping-id", "shopping", "p"), app("api-id", "api", "p"),
		deployment("aaaa-1", "shop", success), deployment("aaaa-2", "shop", running),
		deployment("bbbb-1", "api", running), deployment("bbbb-2", "api", running),
		deployment("cccc-1", "shopping", success))
}

// typed returns a command line with a flag that is set.
func typed(s *session.State, args ...string) *Line {
	root, cmd := &cobra.Command{Use: "pipedeck"}, &cobra.Command{Use: "cancel"}
	root.AddCommand(cmd)
	cmd.Flags().Bool("no-rollback", false, "")
	_ = cmd.Flags().Set("no-rollback", "true")
	return New(&session.Session{State: s, Flags: " --name demo"}, cmd, args)
}

// refused returns the next step of an error about wrong usage.
func refused(t *testing.T, err error) string {
	t.Helper()
	var failure *exit.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, exit.WrongUsage, failure.Code)
	return failure.Hint
}

func TestAWordNamesAnApplicationOrADeploymentByItsBeginning(t *testing.T) {
	t.Parallel()
	s := example()
	for word, want := range map[string]string{
		"shop": "shop-id", "shop-id": "shop-id", "shopp": "shopping-id", "a": "", "ap": "api-id", "api": "api-id",
		"aaaa-1": "shop-id aaaa-1", "c": "shopping-id cccc-1", "bbbb-2": "api-id bbbb-2",
	} {
		target, err := typed(s, word).Argument(0).Target()
		if want == "" {
			require.Error(t, err)
			continue
		}
		require.NoError(t, err, word)
		got := target.Application.GetId()
		if target.Deployment != nil {
			got += " " + target.Deployment.GetId()
		}
		require.Equal(t, want, got, word)
	}
}

func TestOneCharacterOfARandomIDNamesNothing(t *testing.T) {
	t.Parallel()
	const id, commit = "0a1b2c3d-0000-4000-8000-000000000000", "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"
	for word, want := range map[string]int{"0": fitsNot, "0a1": fitsNot, "0a1b": fitsBeginning, "": fitsNot} {
		require.Equal(t, want, Fit(word, id), word)
		require.Equal(t, want, Fit(word, commit), word)
	}
	require.Equal(t, fitsBeginning, Fit("w", "web", id), "a name that someone has chosen is named by any beginning")
	require.Equal(t, fitsWhole, Fit(id, id))
}

func TestAWordThatFitsSeveralListsTheirCommands(t *testing.T) {
	t.Parallel()
	_, err := typed(example(), "aaaa").Argument(0).Target()
	require.EqualError(t, err, `"aaaa" fits 2 applications or deployments`)
	require.Equal(t, "run one of:\n"+
		"  pipedeck cancel aaaa-2 --no-rollback --name demo   # deployment of shop, RUNNING, commit cafeaaa\n"+
		"  pipedeck cancel aaaa-1 --no-rollback --name demo   # deployment of shop, SUCCESS, commit cafeaaa",
		refused(t, err))
	_, err = typed(example(), "sho").Argument(0).Application()
	require.EqualError(t, err, `"sho" fits 2 applications`)
	require.Equal(t, "run one of:\n"+
		"  pipedeck cancel shop --no-rollback --name demo   # application shop, SYNCED, in shop\n"+
		"  pipedeck cancel shopping --no-rollback --name demo   # application shopping, SYNCED, in shopping",
		refused(t, err))
}

func TestApplicationsOfOneNameAreDistinguishedByTheirPipeds(t *testing.T) {
	t.Parallel()
	s := environment(&deckv1.Piped{Id: "p1", Name: "first"}, &deckv1.Piped{Id: "p2", Name: "second"},
		app("a1", "web", "p1"), app("a2", "web", "p2"))
	_, err := typed(s, "web").Argument(0).Application()
	require.EqualError(t, err, `"web" fits 2 applications`)
	require.Contains(t, refused(t, err),
		"  pipedeck cancel a2 --no-rollback --name demo   # application web of piped second")
	a, err := typed(s, "a2").Argument(0).Application()
	require.NoError(t, err)
	require.Equal(t, "a2", a.GetId())
}

func TestACommandThatChangesSomethingTakesWholeNamesAndTheBeginningsOfIDs(t *testing.T) {
	t.Parallel()
	const id = "0a1b2c3d-0000-4000-8000-000000000000"
	s := environment(app(id, "web2", "p"), deployment("aaaa-1", "gone", success),
		&deckv1.Deployment{Id: "dddd-1", ApplicationId: id, ApplicationName: "web2", Status: running})
	change := func(args ...string) *Line {
		l := typed(s, args...)
		l.whole = true
		return l
	}
	for _, word := range []string{"web2", id, "0a1b", "dddd", "dddd-1"} {
		a, err := change(word).Argument(0).Application()
		require.NoError(t, err, word)
		require.Equal(t, "web2", a.GetName(), word)
		target, err := change(word).Argument(0).Target()
		require.NoError(t, err, word)
		require.Equal(t, "web2", target.Application.GetName(), word)
	}
	for _, word := range []string{"web", "w"} {
		_, err := change(word).Argument(0).Application()
		require.EqualError(t, err, `there is no application "`+word+`"`)
		require.Equal(t, "write the whole name, since the command changes something: web2; see pipedeck apps",
			refused(t, err))
		_, err = typed(s, word).Argument(0).Application()
		require.NoError(t, err, "a command that only reads takes it")
	}
}

func TestTheWholeNameOfARemovedApplicationMeansNoOtherOne(t *testing.T) {
	t.Parallel()
	s := environment(app("shop2-id", "shop2", "p"), deployment("aaaa-1", "shop", success),
		deployment("bbbb-1", "shop2", success))
	for _, word := range []string{"shop", "shop-id"} {
		_, err := typed(s, word).Argument(0).Application()
		require.EqualError(t, err, "application shop was removed", word)
		require.Equal(t, "see its deployments: pipedeck history shop --name demo", refused(t, err))
		_, err = typed(s, word).Argument(0).Target()
		require.EqualError(t, err, "application shop was removed", word)
	}
	a, err := typed(s, "sho").Argument(0).Application()
	require.NoError(t, err)
	require.Equal(t, "shop2", a.GetName())
}

func TestACommandForANameThatLooksLikeAFlagWorksAsItStands(t *testing.T) {
	t.Parallel()
	require.Equal(t, "pipedeck cancel --no-rollback --name demo -- -web 'the stage'", typed(example()).Command("-web",
		"the stage"))
}

func TestADeploymentNamesItsApplication(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"aaaa", "aaaa-2"} {
		a, err := typed(example(), word).Argument(0).Application()
		require.NoError(t, err, word)
		require.Equal(t, "shop", a.GetName())
	}
}

func TestTheRunningDeploymentIsNamedByItsApplication(t *testing.T) {
	t.Parallel()
	d, err := typed(example(), "shop").Argument(0).Running()
	require.NoError(t, err)
	require.Equal(t, "aaaa-2", d.GetId())
	_, err = typed(example(), "shopping").Argument(0).Running()
	require.EqualError(t, err, `no deployment of "shopping" is under way`)
	_, err = typed(example(), "api").Argument(0).Running()
	require.EqualError(t, err, `2 deployments of "api" are under way`)
	require.Contains(t, refused(t, err), "\n  pipedeck cancel bbbb-1 --no-rollback --name demo   # ")
}

func TestAnUnknownWordNamesTheNearestOnes(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"shpo": "did you mean shop? see pipedeck apps", "shoping": "did you mean shopping? see pipedeck apps",
		"APIS": "did you mean api? see pipedeck apps", "x": "choose one of: api, shop, shopping",
		"": "see pipedeck apps",
	} {
		_, err := typed(example(), word).Argument(0).Application()
		require.Equal(t, want, refused(t, err), word)
	}
	_, err := typed(environment(), "x").Argument(0).Application()
	require.Equal(t, "there is no application at present; see pipedeck status", refused(t, err))
	require.Equal(t, []string{"abc"}, Nearest("acb", []string{"xyz", "abc"}))
}

func TestAPluginOfSeveralPipedsIsNamedWithItsPiped(t *testing.T) {
	t.Parallel()
	s := environment(&deckv1.Piped{Id: "p1", Name: "first"}, &deckv1.Piped{Id: "p2", Name: "second"},
		&deckv1.Plugin{Name: "wait", PipedId: "p1"}, &deckv1.Plugin{Name: "wait", PipedId: "p2"},
		&deckv1.Plugin{Name: "kubernetes", PipedId: "p1"})
	for word, piped := range map[string]string{"second/wait": "p2", "first/w": "p1", "ku": "p1"} {
		p, err := typed(s, word).Argument(0).Plugin("")
		require.NoError(t, err, word)
		require.Equal(t, piped, p.GetPipedId(), word)
	}
	p, err := typed(s, "wait").Argument(0).Plugin("second")
	require.NoError(t, err)
	require.Equal(t, "p2", p.GetPipedId())
	_, err = typed(s, "wait").Argument(0).Plugin("")
	require.Contains(t, refused(t, err),
		"\n  pipedeck cancel second/wait --no-rollback --name demo   # plugin of piped second")
	_, err = typed(s, "kubrenetes").Argument(0).Plugin("")
	require.Equal(t, "did you mean kubernetes? see pipedeck plugins", refused(t, err))
}

func TestStagesAreNamedByTheirTypeOrTheBeginningOfAnID(t *testing.T) {
	t.Parallel()
	d := &deckv1.Deployment{ApplicationName: "shop", Stages: []*deckv1.Stage{
		{Id: "1a", Name: "WAIT"}, {Id: "1b", Name: "WAIT"}, {Id: "2", Name: "WAIT_APPROVAL", ConfigId: "legal"},
	}}
	for word, want := range map[string]int{"WAIT": 2, "le": 1, "1a": 1, "WAIT_": 1} {
		stages, err := typed(example()).Flag("stage", word).Stages(d)
		require.NoError(t, err, word)
		require.Len(t, stages, want, word)
	}
	_, err := typed(example(), "shop").Flag("stage", "1").Stages(d)
	require.EqualError(t, err, `"1" fits 2 stages of shop`)
	require.Contains(t, refused(t, err), "\n  pipedeck cancel shop --no-rollback --stage 1b --name demo   # stage WAIT")
	_, err = typed(example()).Flag("stage", "lgeal").Stages(d)
	require.Contains(t, refused(t, err), "did you mean legal? ")
}

func TestASingleWordMayNameAStageOfOneApplication(t *testing.T) {
	t.Parallel()
	withStages := func(d *deckv1.Deployment, names ...string) *deckv1.Deployment {
		for i, name := range names {
			d.Stages = append(d.Stages, &deckv1.Stage{Id: name + string(rune('0'+i)), Name: name})
		}
		return d
	}
	s := environment(app("shop-id", "shop", "p"), app("api-id", "api", "p"),
		withStages(deployment("aaaa-1", "shop", success), "WAIT", "SMOKE"),
		withStages(deployment("bbbb-1", "api", success), "WAIT", "WAITER"), app("new-id", "new", "p"),
		deployment("bbbb-2", "api", running)) // it has no stages yet
	for word, want := range map[string]string{"SMOKE": "aaaa-1", "SM": "aaaa-1", "WAITER": "bbbb-1"} {
		one := typed(s, word).Argument(0)
		require.False(t, one.FitsTarget(), word)
		found, err := one.DeploymentWithStage()
		require.NoError(t, err, word)
		require.Equal(t, want, found.GetId(), word)
	}
	for _, word := range []string{"shop", "sh", "aaaa", "n"} {
		require.True(t, typed(s, word).Argument(0).FitsTarget(), word)
	}
	_, err := typed(s, "WAIT").Argument(0).DeploymentWithStage()
	require.EqualError(t, err, `2 applications have a stage "WAIT"`)
	require.Contains(t, refused(t, err), "pipedeck cancel shop WAIT --no-rollback --name demo   # deployment of shop")
	for word, says := range map[string]string{"": "is empty", "none": `there is no application or deployment "none"`} {
		require.False(t, typed(s, word).Argument(0).FitsTarget(), word)
		_, err = typed(s, word).Argument(0).DeploymentWithStage()
		require.ErrorContains(t, err, says)
	}
}
