// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/metadata"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

func TestAStageBelongsToTheTraceOfPiped(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, executing(func(ctx context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
		span := trace.SpanContextFromContext(ctx)
		req.Log.Infof("%v %s %s", span.IsRemote(), span.TraceID(), span.SpanID())
		return sdk.Success, nil
	}), wiretest.Options{})
	for given, says := range map[string]string{
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01": "true 0af7651916cd43dd8448eb211c80319c " +
			"b7ad6b7169203331\n",
		"nonsense": "false 00000000000000000000000000000000 0000000000000000\n",
	} {
		request := h.Request("TEST", "{}")
		request.Input.Stage.Id = given
		resp, err := h.Deployment.ExecuteStage(metadata.AppendToOutgoingContext(t.Context(), "traceparent", given),
			request)
		require.NoError(t, err)
		require.Equal(t, model.StageStatus_STAGE_SUCCESS, resp.GetStatus())
		require.Equal(t, says, h.Piped.Log(given))
	}
}
