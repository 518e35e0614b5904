// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

const (
	chainID    = "00000000-0000-4000-8000-000000000900"
	chainBlock = 1
)

// startsChain is the end of a configuration whose deployment starts a chain of two more blocks.
const startsChain = "  postSync: {chain: {applications: [{name: next, kind: APPLICATION}, {labels: {env: " +
	"production}}]}}\n"

// firstOfChain returns a recorded deployment as the first one of a chain, because no chain was recorded. PipeCD's piped
// then creates the chain in place of the deployment, which gets its place in the chain from the control plane.
func firstOfChain(recorded []call) []call {
	recorded = inBlock(recorded, 0, 1, startsChain)
	for i, c := range recorded {
		if r, is := c.request.(*pipedservice.CreateDeploymentRequest); is {
			d := r.GetDeployment()
			d.DeploymentChainId, d.DeploymentChainBlockIndex = "", 0
			recorded[i].method, recorded[i].request = "CreateDeploymentChain",
				&pipedservice.CreateDeploymentChainRequest{
					FirstDeployment: d,
					Matchers: []*pipedservice.CreateDeploymentChainRequest_ApplicationMatcher{
						{Name: "next", Kind: "APPLICATION"}, {Labels: map[string]string{"env": "production"}},
					},
				}
		}
	}
	return recorded
}

// inChain returns a recorded deployment as one of the second block of a chain, which has to wait for the first block
// once.
func inChain(recorded []call) []call {
	return inBlock(recorded, chainBlock, 2, "  trigger: {onChain: {disabled: false}}\n")
}

// inBlock returns a recorded deployment as one of a block of a chain. By PipeCD's protocol each message about the
// deployment names chain and block, and piped asks for its turn until it may plan. The text ends the configuration.
func inBlock(recorded []call, block uint32, questions int, text string) []call {
	var list []call
	for _, c := range recorded {
		c.request = proto.Clone(c.request)
		named := []protoreflect.Message{c.request.ProtoReflect()}
		switch r := c.request.(type) {
		case *pipedservice.CreateDeploymentRequest:
			named = append(named, r.GetDeployment().ProtoReflect())
		case *deployment.ExecuteStageRequest:
			named = append(named, r.GetInput().GetDeployment().ProtoReflect())
		case interface {
			GetInput() *deployment.PlanPluginInput
		}:
			named = append(named, r.GetInput().GetDeployment().ProtoReflect())
		case *pipedservice.ReportDeploymentPlannedRequest:
			for range questions {
				list = append(list, call{link: controlPlaneLink, method: "InChainDeploymentPlannable",
					request: &pipedservice.InChainDeploymentPlannableRequest{
						DeploymentId: r.GetDeploymentId(), DeploymentChainId: chainID, DeploymentChainBlockIndex: block,
					}})
			}
		}
		for _, m := range named {
			if field := m.Descriptor().Fields().ByName("deployment_chain_id"); field != nil {
				m.Set(field, protoreflect.ValueOfString(chainID))
				m.Set(m.Descriptor().Fields().ByName("deployment_chain_block_index"), protoreflect.ValueOfUint32(block))
			}
		}
		for _, s := range sources(c.request) {
			s.ApplicationConfig = append(slices.Clone(s.GetApplicationConfig()), text...)
		}
		list = append(list, c)
	}
	return list
}

// created are the deployments that calls create, alone or as the first one of a chain.
func created(calls []call) []*model.Deployment {
	var list []*model.Deployment
	for _, c := range calls {
		switch r := c.request.(type) {
		case *pipedservice.CreateDeploymentRequest:
			list = append(list, r.GetDeployment())
		case *pipedservice.CreateDeploymentChainRequest:
			list = append(list, r.GetFirstDeployment())
		}
	}
	return list
}

// askToSyncInChain is the control plane that has come to the block of the application.
func askToSyncInChain(t *testing.T, s *stage) {
	t.Helper()
	askToSync(t, s)
	c := s.plane.commands[0]
	c.Type, c.ChainSyncApplication = model.Command_CHAIN_SYNC_APPLICATION, &model.Command_ChainSyncApplication{
		DeploymentChainId: chainID, BlockIndex: chainBlock, ApplicationId: c.GetApplicationId(),
	}
	c.SyncApplication = nil
	s.plane.turns = 1
}
