// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planpreview

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/clip"
)

const (
	// maxOutput bounds an answer, in bytes: control planes take messages of 4 MiB (gRPC's default).
	maxOutput = 3 << 20
	// maxDetails bounds the details of one plugin and target at first, in bytes, and minDetails where cutting ends.
	maxDetails = 1 << 20
	minDetails = 1 << 10
)

// encode writes a result as PipeCD v1 does: with encoding/json, not as protobuf's JSON. Details that are too long are
// cut off after a line, so that the whole can be sent.
// Changes as data, which the details have, too, go first.
func encode(result *answer) ([]byte, error) {
	if data, err := json.Marshal(result); err == nil && len(data) > maxOutput {
		result = &answer{PlanPreviewCommandResult: result.PlanPreviewCommandResult}
	}
	for limit := maxDetails; ; limit /= 4 {
		cut := &answer{proto.CloneOf(result.PlanPreviewCommandResult), result.Changes}
		for _, application := range cut.GetResults() {
			for _, one := range application.GetPluginPlanResults() {
				one.PlanDetails = shorten(one.GetPlanDetails(), limit)
			}
		}
		data, err := json.Marshal(cut)
		if err != nil {
			return nil, fmt.Errorf("encode the plan preview: %w", err)
		}
		if len(data) <= maxOutput {
			return data, nil
		}
		if limit <= minDetails {
			return json.Marshal(&model.PlanPreviewCommandResult{
				CommandId: result.GetCommandId(), PipedId: result.GetPipedId(),
				Error: fmt.Sprintf(
					"the results of %d applications are too large to be sent: preview a smaller change",
					len(result.GetResults()),
				),
			})
		}
	}
}

func shorten(text []byte, limit int) []byte {
	if len(text) <= limit {
		return text
	}
	kept := []byte(clip.Bytes(string(text), limit))
	if at := bytes.LastIndexByte(kept, '\n'); at >= 0 {
		kept = kept[:at+1]
	}
	return fmt.Appendf(kept, "# cut off: %d bytes more\n", len(text)-len(kept))
}
