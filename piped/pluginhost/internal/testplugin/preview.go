// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/planpreview"
)

// preview answers with the file "value" of both sources, for each target; with what was recorded; with an error, or
// never.
type preview struct {
	planpreview.UnimplementedPlanPreviewServiceServer
	kind     string
	recorded map[string][]byte
}

func (p *preview) GetPlanPreview(
	ctx context.Context, r *planpreview.GetPlanPreviewRequest,
) (*planpreview.GetPlanPreviewResponse, error) {
	switch p.kind {
	case "error":
		return nil, status.Error(codes.Internal, "the moon hides what is behind it")
	case "hang":
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if p.kind == "recorded" {
		answer := &planpreview.GetPlanPreviewResponse{}
		return answer, proto.Unmarshal(p.recorded[r.GetApplicationId()], answer)
	}
	was, is := value(r.GetRunningDeploymentSource()), value(r.GetTargetDeploymentSource())
	answer := &planpreview.GetPlanPreviewResponse{}
	for _, target := range r.GetDeployTargets() {
		one := &planpreview.PlanPreviewResult{DeployTarget: target, NoChange: was == is, Summary: "nothing changes"}
		if was != is {
			one.Summary, one.DiffLanguage = "1 value changes", "diff"
			one.Details = fmt.Appendf(nil, "-%s\n+%s\n", was, is)
		}
		answer.Results = append(answer.Results, one)
	}
	asked, _ := metadata.FromIncomingContext(ctx)
	if p.kind == "changes" && len(asked.Get("pipedeck-wants-planned-changes")) > 0 {
		data, err := json.Marshal(map[string]any{r.GetDeployTargets()[0]: map[string]string{"was": was, "is": is}})
		if err != nil {
			return nil, err
		}
		return answer, grpc.SetTrailer(ctx, metadata.Pairs("pipedeck-planned-changes-bin", string(data)))
	}
	return answer, nil
}

func value(s *common.DeploymentSource) string {
	data, err := os.ReadFile(filepath.Join(s.GetApplicationDirectory(), "value"))
	if err != nil {
		return "none"
	}
	return string(data)
}
