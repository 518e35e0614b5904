// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"context"
	"testing"

	"google.golang.org/grpc/metadata"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

func TestAStageReadsTheTraceOfPiped(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, executing(func(ctx context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
		req.Log.Infof("%v", sdk.TraceHeaders(ctx))
		return sdk.Success, nil
	}), wiretest.Options{})
	for given, says := range map[string]string{
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01": "map[traceparent:" +
			"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01]\n",
		"none": "map[]\n",
	} {
		request := h.Request("TEST", "{}")
		request.Input.Stage.Id = given
		ctx := t.Context()
		if given != "none" {
			ctx = metadata.AppendToOutgoingContext(ctx, "traceparent", given, "other", "header")
		}
		resp, err := h.Deployment.ExecuteStage(ctx, request)
		require.NoError(t, err)
		require.Equal(t, model.StageStatus_STAGE_SUCCESS, resp.GetStatus())
		require.Equal(t, says, h.Piped.Log(given))
	}
}
