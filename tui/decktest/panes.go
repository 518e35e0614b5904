// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package decktest

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// preview is the answer about a branch.
type preview struct {
	responses []*deckv1.PlanPreviewResponse
	err       error
}

// Measure answers questions for insights from now on; nil is an environment that does not know them.
func (s *Server) Measure(report *deckv1.GetInsightsResponse) {
	s.change(func() { s.insights = report })
}

// GetInsights answers as Measure has set it.
func (s *Server) GetInsights(context.Context, *deckv1.GetInsightsRequest) (*deckv1.GetInsightsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.insights == nil {
		return nil, status.Error(codes.Unimplemented, "unknown method GetInsights")
	}
	return s.insights, nil
}

// Branches are those of the repository from now on; nil is an environment without one on this machine.
func (s *Server) Branches(branches ...*deckv1.Branch) {
	s.change(func() { s.branches = &deckv1.ListBranchesResponse{Branches: branches} })
}

// ListBranches answers as Branches has set it.
func (s *Server) ListBranches(context.Context, *deckv1.ListBranchesRequest) (*deckv1.ListBranchesResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.branches == nil {
		return nil, status.Error(codes.FailedPrecondition, "the environment watches no repository on this machine")
	}
	return s.branches, nil
}

// Preview answers whoever asks for the preview of a branch: with the responses, and then with err unless it is nil.
func (s *Server) Preview(branch string, err error, responses ...*deckv1.PlanPreviewResponse) {
	s.change(func() { s.previews[branch] = preview{responses, err} })
}

// PreviewBranch notes the call, and answers as Preview has set it. Without a result it waits for the end of the call.
func (s *Server) PreviewBranch(r *deckv1.PreviewBranchRequest,
	stream grpc.ServerStreamingServer[deckv1.PlanPreviewResponse]) error {
	if err := s.called(stream.Context(), r); err != nil {
		return err
	}
	s.mu.Lock()
	answer := s.previews[r.GetBranch()]
	s.mu.Unlock()
	for _, response := range answer.responses {
		if err := stream.Send(response); err != nil || response.GetResult() != nil {
			return err
		}
	}
	if answer.err == nil {
		<-stream.Context().Done()
	}
	return answer.err
}

// Drifted are example resources with the fields in which they differ from Git.
func Drifted() []*deckv1.Resource {
	all := Resources()
	web := all[0]
	web.Drift = "2 fields"
	web.Fields = []*deckv1.FieldDrift{
		{Path: "spec.replicas", GitValue: "1", LiveValue: "2", AppliedValue: "1",
			Change: deckv1.FieldDrift_CHANGE_LIVE, Writer: "kubectl-scale"},
		{Path: "spec.template.spec.containers[main].image", GitValue: `"helloworld:v2"`, LiveValue: `"helloworld:v1"`,
			AppliedValue: `"helloworld:v1"`, Change: deckv1.FieldDrift_CHANGE_GIT},
	}
	return append(all, &deckv1.Resource{
		Id: "secret", Kind: "Secret", Name: "token", Namespace: "default", DeployTarget: "kubernetes/local",
		Health: deckv1.HealthStatus_HEALTH_STATUS_HEALTHY, CreatedAt: At(-300), Drift: "1 field",
		Fields: []*deckv1.FieldDrift{{Path: "data.token", GitValue: `"******"`, LiveValue: `"******"`,
			AppliedValue: `"******"`, Change: deckv1.FieldDrift_CHANGE_LIVE, Secret: true}},
	})
}

// Insights are example figures of three applications over three days.
func Insights() *deckv1.GetInsightsResponse {
	minutes := func(n float64) *durationpb.Duration {
		return durationpb.New(time.Duration(n * float64(time.Minute)))
	}
	return &deckv1.GetInsightsResponse{
		From: At(-3*86400 - 4*3600), To: At(0),
		All: &deckv1.Insight{
			Succeeded: 16, Failed: 3, Cancelled: 1, DeploymentsADay: 5.05, LeadTime: minutes(4.2), LeadTimes: 13,
			RestoreTime: minutes(12), RestoreTimes: 2, Failing: 1,
			SucceededParts: []uint32{1, 0, 0, 2, 0, 1, 0, 0, 3, 0, 0, 1, 2, 0, 0, 0, 1, 0, 2, 0, 1, 0, 1, 1},
			FailedParts:    []uint32{0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1},
		},
		Applications: []*deckv1.Insight{
			{
				ApplicationId: "checkout", ApplicationName: "checkout", Succeeded: 9, Failed: 1, DeploymentsADay: 2.84,
				LeadTime: minutes(3.5), LeadTimes: 8, RestoreTime: minutes(6), RestoreTimes: 1,
				SucceededParts: []uint32{1, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0},
				FailedParts:    []uint32{0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
			},
			{
				ApplicationId: "mail", ApplicationName: "mail", Succeeded: 7, Failed: 1, DeploymentsADay: 2.21,
				LeadTime: minutes(5.1), LeadTimes: 5, RestoreTime: minutes(18), RestoreTimes: 1,
				SucceededParts: []uint32{0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1},
				FailedParts:    []uint32{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0},
			},
			{
				ApplicationId: "search", ApplicationName: "search", Failed: 1, Cancelled: 1, Failing: 1,
				SucceededParts: make([]uint32, 24),
				FailedParts:    []uint32{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
			},
		},
	}
}

// ExampleBranches are branches of a repository.
func ExampleBranches() []*deckv1.Branch {
	return []*deckv1.Branch{
		{Name: "main", Commit: "f437ddc09b1e", Subject: "Raise the timeout of the payment client",
			CommittedAt: At(-60), Base: true, CheckedOut: true},
		{Name: "feature/mail-v8", Commit: "0c5ec8e4415d", Subject: "Send mails with v8", CommittedAt: At(-3600)},
		{Name: "origin/cleanup", Commit: "77aa11bb22cc", Subject: "Remove the old queue", CommittedAt: At(-90000)},
	}
}

// ExamplePreview is what merging feature/mail-v8 would deploy.
func ExamplePreview() *deckv1.PlanPreviewResponse {
	const details = `# 1. name="mail", kind="Deployment", namespace="default", apiGroup="apps" (changed)

@@ -23,7 +23,7 @@
         app: mail
     spec:
       containers:
-      - image: mail:v7
+      - image: mail:v8
         imagePullPolicy: IfNotPresent
         name: main
`
	return &deckv1.PlanPreviewResponse{Kind: &deckv1.PlanPreviewResponse_Result{Result: &deckv1.PlanPreview{
		BaseBranch: "main", HeadBranch: "feature/mail-v8", HeadCommit: "0c5ec8e4415d",
		Applications: []*deckv1.ApplicationPlanPreview{
			{
				Id: "mail", Name: "mail", Path: "apps/mail", Strategy: "PIPELINE",
				StrategyReason: "Sync progressively because of updating image mail from v7 to v8",
				Targets: []*deckv1.TargetPlanPreview{{Plugin: "kubernetes", Target: "local", Language: "diff",
					Summary: "0 added manifests, 1 changed manifests, 0 deleted manifests", Details: details}},
			},
			{Id: "website", Name: "website", Path: "apps/website", NoChange: true},
		},
	}}}
}
