// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane"
)

// TestARecordedPipedIsServedInAChain makes a chain of two recorded deployments, because no chain was recorded. By
// PipeCD's protocol each message about a deployment names chain and block, and piped asks for its turn until it may
// plan.
func TestARecordedPipedIsServedInAChain(t *testing.T) {
	t.Parallel()
	first, second := shared(t, "a1-wait-script"), shared(t, "a3-failure-rollback")
	var requests []proto.Message
	for _, c := range append(first[:len(first):len(first)], second...) {
		requests = append(requests, newReplayer(t).request(c))
	}
	identity := identityIn(requests)
	p := start(t, func(c *controlplane.Config) { c.PipedID = identity })
	conn := dial(t, p.address, "PIPED-TOKEN "+project+","+identity+","+pipedKey)
	piped := pipedservice.NewPipedServiceClient(conn)
	ctx := testContext(t)
	_, err := piped.ReportPipedMeta(ctx, &pipedservice.ReportPipedMetaRequest{
		Version: "v0", Repositories: []*model.ApplicationGitRepository{{Id: "repo1", Remote: "file:///srv/repo.git",
			Branch: "main"}},
	})
	require.NoError(t, err)
	was, is := createdIn(t, first), createdIn(t, second)
	for _, a := range applicationsIn([]proto.Message{
		&pipedservice.CreateDeploymentRequest{Deployment: was}, &pipedservice.CreateDeploymentRequest{Deployment: is},
	}, identity) {
		p.server.ImportApplication(a)
	}

	_, err = piped.CreateDeploymentChain(ctx, &pipedservice.CreateDeploymentChainRequest{
		FirstDeployment: was,
		Matchers: []*pipedservice.CreateDeploymentChainRequest_ApplicationMatcher{
			{Name: is.GetApplicationName()},
		},
	})
	require.NoError(t, err)
	got, err := piped.GetDeployment(ctx, &pipedservice.GetDeploymentRequest{Id: was.GetId()})
	require.NoError(t, err)
	chain := got.GetDeployment().GetDeploymentChainId()
	commands, err := piped.ListUnhandledCommands(ctx, &pipedservice.ListUnhandledCommandsRequest{})
	require.NoError(t, err)
	require.Len(t, commands.GetCommands(), 1)
	command := commands.GetCommands()[0].GetChainSyncApplication()
	require.Equal(t, []any{chain, uint32(1), is.GetApplicationId()},
		[]any{command.GetDeploymentChainId(), command.GetBlockIndex(), command.GetApplicationId()})

	plannable := func() bool {
		answer, err := piped.InChainDeploymentPlannable(ctx, &pipedservice.InChainDeploymentPlannableRequest{
			DeploymentId: is.GetId(), DeploymentChainId: chain, DeploymentChainBlockIndex: 1,
		})
		require.NoError(t, err)
		require.False(t, answer.GetCancel(), answer.GetCancelReason())
		return answer.GetPlannable()
	}
	second = inChain(t, second, chain, 1)
	create := place(t, second, "CreateDeployment")
	newReplayer(t).play(conn, second[:create+1], nil)
	for _, c := range inChain(t, first, chain, 0) {
		if strings.HasSuffix(c.Method, "/CreateDeployment") {
			continue // the chain has it
		}
		require.False(t, plannable(), "the first block has not ended before %s", c.Method)
		newReplayer(t).play(conn, []recorded{c}, nil)
		if strings.HasSuffix(c.Method, "/ReportDeploymentCompleted") {
			break
		}
	}
	require.True(t, plannable())
	newReplayer(t).play(conn, second[create+1:], nil)
	for _, c := range second {
		requireKept(t, piped, newReplayer(t).request(c))
	}
	got, err = piped.GetDeployment(ctx, &pipedservice.GetDeploymentRequest{Id: is.GetId()})
	require.NoError(t, err)
	require.Equal(t, chain, got.GetDeployment().GetDeploymentChainId())
	require.Equal(t, uint32(1), got.GetDeployment().GetDeploymentChainBlockIndex())
}

func place(t *testing.T, calls []recorded, method string) int {
	t.Helper()
	for i, c := range calls {
		if strings.HasSuffix(c.Method, "/"+method) {
			return i
		}
	}
	require.Fail(t, "not recorded", method)
	return 0
}

func createdIn(t *testing.T, calls []recorded) *model.Deployment {
	t.Helper()
	return newReplayer(t).request(calls[place(t, calls,
		"CreateDeployment")]).(*pipedservice.CreateDeploymentRequest).GetDeployment()
}

// inChain names chain and block in each call that has a place for them.
func inChain(t *testing.T, calls []recorded, chain string, block uint32) []recorded {
	t.Helper()
	var list []recorded
	for _, c := range calls {
		request := newReplayer(t).request(c)
		for _, m := range []proto.Message{request, createdBy(request)} {
			if field := m.ProtoReflect().Descriptor().Fields().ByName("deployment_chain_id"); field != nil &&
				m.ProtoReflect().IsValid() {
				m.ProtoReflect().Set(field, protoreflect.ValueOfString(chain))
				m.ProtoReflect().Set(m.ProtoReflect().Descriptor().Fields().ByName("deployment_chain_block_index"),
					protoreflect.ValueOfUint32(block))
			}
		}
		data, err := proto.Marshal(request)
		require.NoError(t, err)
		c.Req = base64.StdEncoding.EncodeToString(data)
		list = append(list, c)
	}
	return list
}

// createdBy is the deployment that a request creates; invalid for none.
func createdBy(request proto.Message) *model.Deployment {
	if r, is := request.(*pipedservice.CreateDeploymentRequest); is {
		return r.GetDeployment()
	}
	return nil
}
