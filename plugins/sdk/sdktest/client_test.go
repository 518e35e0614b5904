// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdktest_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
)

var (
	counted sdk.StageKey[int]           = "counted"
	shown   sdk.StageKey[sdk.Text]      = "shown"
	names   sdk.DeploymentKey[[]string] = "names"
	noted   sdk.SharedKey[sdk.Text]     = "noted"
)

// behave is what a stage can rely on, whoever its client is.
func behave(ctx context.Context, client sdk.StageClient) error {
	if _, found, err := counted.Get(ctx, client); found || err != nil {
		return errors.Join(errors.New("a value before it was put"), err)
	}
	err := errors.Join(counted.Put(ctx, client, 3), shown.Put(ctx, client, "as it is"),
		names.Put(ctx, client, []string{"a", "b"}), client.Display(ctx, "three"),
		client.PutMetadata(ctx, sdk.OfStage, map[string]string{"m": "1", "n": "2"}),
		client.PutSharedObject(ctx, "app", "key", []byte("object")))
	if err != nil {
		return err
	}
	if n, found, err := counted.Get(ctx, client); n != 3 || !found || err != nil {
		return errors.Join(errors.New("counted did not come back"), err)
	}
	if text, _, err := shown.Get(ctx, client); text != "as it is" || err != nil {
		return errors.Join(errors.New("shown did not come back"), err)
	}
	if list, _, err := names.Get(ctx, client); strings.Join(list, " ") != "a b" || err != nil {
		return errors.Join(errors.New("names did not come back"), err)
	}
	if note, _, err := noted.Get(ctx, client); note != "by piped" || err != nil {
		return errors.Join(errors.New("what piped noted did not come"), err)
	}
	object, found, err := client.SharedObject(ctx, "app", "key")
	if string(object) != "object" || !found || err != nil {
		return errors.Join(errors.New("the object did not come back"), err)
	}
	if _, found, err := client.SharedObject(ctx, "other", "key"); found || err != nil {
		return errors.Join(errors.New("the object of another application"), err)
	}
	if client.PutMetadata(ctx, sdk.Shared, map[string]string{"noted": "by me"}) == nil {
		return errors.New("shared metadata was written")
	}
	if _, _, err := client.Metadata(ctx, 0, "counted"); err == nil {
		return errors.New("metadata of no scope was read")
	}
	client.Progress(sdk.Progress{Done: 1, Total: 2})
	watching, end := context.WithCancel(ctx)
	defer end()
	command := <-client.Commands(watching)
	if command.Operation != sdk.OperationApprove || command.Commander != "ada" {
		return errors.New("the approval did not come")
	}
	return nil
}

// behaving is a stage plugin that behaves.
type behaving struct{}

func (behaving) Stages() []string { return []string{"BEHAVE"} }

func (behaving) BuildPipelineStages(_ context.Context, req *sdk.PipelineRequest[sdk.None]) ([]sdk.Stage, error) {
	return sdk.CopyStages(req.Stages), nil
}

func (behaving) ExecuteStage(ctx context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
	return sdk.Success, behave(ctx, req.Client)
}

func TestTheClientForTestsBehavesAsThatOfARunningPlugin(t *testing.T) {
	t.Parallel()
	client := sdktest.NewClient(t)
	client.Set(sdk.Shared, "noted", "by piped")
	client.Approve("ada")
	require.NoError(t, behave(t.Context(), client))

	h := sdktest.Start(t, sdk.ForStages(behaving{}), sdktest.Options{Name: "behaving"})
	h.Piped.SetSharedMetadata("noted", "by piped")
	h.Piped.Approve("behave", "ada")
	require.Equal(t, sdk.StageSuccess, h.Execute(t, "BEHAVE", "{}"), h.Piped.Log("behave"))

	stage := h.Piped.StageMetadata("behave")
	delete(stage, sdk.ProgressMetadataKey)
	require.Equal(t, stage, client.All(sdk.OfStage))
	require.Equal(t, h.Piped.DeploymentMetadata("behaving"), client.All(sdk.OfDeployment))
	progress, _ := client.Reported()
	require.Equal(t, []sdk.Progress{{Done: 1, Total: 2}}, progress)
}

func TestTheClientForTestsHasTheBoundsOfPiped(t *testing.T) {
	t.Parallel()
	ctx, client := t.Context(), sdktest.NewClient(t)
	large := strings.Repeat("x", 200<<10)
	require.NoError(t, client.PutMetadata(ctx, sdk.OfStage, map[string]string{"a": large, "b": large}))
	err := client.PutMetadata(ctx, sdk.OfStage, map[string]string{"c": large})
	require.Equal(t, codes.ResourceExhausted, status.Code(err))
	require.ErrorContains(t, err, "at most 524288 are kept")
	require.Len(t, client.All(sdk.OfStage), 2)
	require.NoError(t, client.PutMetadata(ctx, sdk.OfStage, map[string]string{"a": "small", "c": large}), "room again")

	err = client.PutMetadata(ctx, sdk.OfDeployment, map[string]string{"d": large + large, "e": "small"})
	require.Equal(t, codes.ResourceExhausted, status.Code(err))
	require.Empty(t, client.All(sdk.OfDeployment), "all or none")
	err = client.PutSharedObject(ctx, "app", "key", make([]byte, 9<<20))
	require.Equal(t, codes.ResourceExhausted, status.Code(err))
}

func TestCallsFailOnDemandAndWithTheirContext(t *testing.T) {
	t.Parallel()
	ctx, client := t.Context(), sdktest.NewClient(t)
	away := errors.New("piped is away")
	for _, call := range []string{"Metadata", "PutMetadata", "SharedObject", "PutSharedObject", "InstallTool"} {
		client.Fail(call, away)
	}
	_, _, err := counted.Get(ctx, client)
	require.ErrorIs(t, err, away)
	require.ErrorIs(t, client.Display(ctx, "text"), away)
	_, _, err = client.SharedObject(ctx, "app", "key")
	require.ErrorIs(t, err, away)
	require.ErrorIs(t, client.PutSharedObject(ctx, "app", "key", nil), away)
	_, err = client.InstallTool(ctx, "tool", "1", "true")
	require.ErrorIs(t, err, away)
	client.Fail("PutMetadata", nil)
	require.NoError(t, client.Display(ctx, "text"))

	ended, end := context.WithCancel(ctx)
	end()
	require.ErrorIs(t, counted.Put(ended, client, 1), context.Canceled)
	_, open := <-client.Commands(ended)
	require.False(t, open)

	h := sdktest.Start(t, sdk.ForStages(behaving{}), sdktest.Options{})
	h.Piped.Fail("PutStageMetadata", status.Error(codes.Unavailable, "piped is away"))
	require.Equal(t, sdk.StageFailure, h.Execute(t, "BEHAVE", "{}"))
	require.Contains(t, h.Piped.Log("behave"), "piped is away")
}

func TestToolsAreInstalledOnceByTheirScripts(t *testing.T) {
	t.Parallel()
	ctx, client := t.Context(), sdktest.NewClient(t)
	const script = "printf '#!/bin/sh\necho {{ .Name }} {{ .Version }}\n' > {{ .OutPath }}"
	path, err := client.InstallTool(ctx, "hello", "1.2", script)
	require.NoError(t, err)
	again, err := client.InstallTool(ctx, "hello", "1.2", "exit 1")
	require.NoError(t, err, "it is there")
	require.Equal(t, path, again)
	program, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "#!/bin/sh\necho hello 1.2\n", string(program))

	require.NoError(t, client.PlaceTool("placed", "1", "#!/bin/sh\n"))
	_, err = client.InstallTool(ctx, "placed", "1", "exit 1")
	require.NoError(t, err)
	for script, says := range map[string]string{
		"echo no such host >&2; exit 3": "the install script failed: exit status 3: no such host",
		"true":                          "the install script left no file at OutPath",
		"{{ .Nmae }}":                   "fill in the install script",
		"{{":                            "read the install script",
	} {
		_, err := client.InstallTool(ctx, "broken", "1", script)
		require.ErrorContains(t, err, "install broken 1: "+says)
	}
	_, err = client.InstallTool(ctx, "../up", "1", script)
	require.ErrorContains(t, err, "without slashes")
}

func TestTheWorkAtDeployTargetsIsTestedWithoutAPlugin(t *testing.T) {
	t.Parallel()
	client, log := sdktest.NewClient(t), sdktest.NewLog(t)
	request := &sdk.ExecuteRequest[sdk.None, int, sdk.None]{
		Client: client, Log: log,
		Targets: []sdk.DeployTarget[int]{{Name: "east", Config: 1}, {Name: "west", Config: 2}},
	}
	err := sdk.ForEachTarget(t.Context(), request, 1, func(_ context.Context, at sdk.DeployTarget[int]) error {
		request.At(at).Log.Infof("number %d", at.Config)
		if at.Config == 2 {
			return errors.New("the sea is in the way")
		}
		return nil
	})
	require.EqualError(t, err, "1 of 2 deploy targets failed: deploy target west: the sea is in the way")
	require.Equal(t, "[east] number 1\nDeploy target east: done\n[west] number 2\n"+
		"Deploy target west: failed: the sea is in the way\n", log.Text())
	_, results := client.Reported()
	require.Equal(t, []sdk.TargetResult{{Name: "east", Status: "SUCCESS"},
		{Name: "west", Status: "FAILURE", Detail: "the sea is in the way"}}, results)
}

func TestTheErrorOfTheOnlyDeployTargetStandsForItself(t *testing.T) {
	t.Parallel()
	client, log := sdktest.NewClient(t), sdktest.NewLog(t)
	request := &sdk.ExecuteRequest[sdk.None, int, sdk.None]{
		Client: client, Log: log, Targets: []sdk.DeployTarget[int]{{Name: "west"}},
	}
	failure := errors.New("the sea is in the way\nmore words")
	err := sdk.ForEachTarget(t.Context(), request, 1,
		func(context.Context, sdk.DeployTarget[int]) error { return failure })
	require.Equal(t, failure, err)
	require.Equal(t, "Deploy target west: failed\n", log.Text())
	_, results := client.Reported()
	require.Equal(t, []sdk.TargetResult{{Name: "west", Status: "FAILURE", Detail: "the sea is in the way"}}, results)
}
