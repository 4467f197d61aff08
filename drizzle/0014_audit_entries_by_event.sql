CREATE INDEX `egress_audit_logs_by_event` ON `egress_audit_logs` (`egress_id`,`event`,`created_at`,`id`);
