// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// stageWith is the field of the options of a stage in an application configuration with one stage.
const stageWith = "spec.pipeline.stages[0].with"

// stage returns what is wrong in options for a stage of that type, a JSON object.
func (o *pluginOptions) stage(name string, with []byte) error {
	application, err := json.Marshal(map[string]any{
		"apiVersion": "pipecd.dev/v1beta1", "kind": "Application",
		"spec": map[string]any{"name": "edited", "pipeline": map[string]any{
			"stages": []any{map[string]any{"name": name, "with": json.RawMessage(with)}},
		}},
	})
	if err != nil {
		return err
	}
	var wrong []error
	errs, _ := o.application(application, "options")
	for _, one := range errs {
		if strings.HasPrefix(one.Field, stageWith) { // the rest is not the user's
			field := strings.TrimPrefix(strings.TrimPrefix(one.Field, stageWith), ".")
			wrong = append(wrong, fmt.Errorf("%s: %s", field, one.Message))
		}
	}
	return errors.Join(wrong...)
}
