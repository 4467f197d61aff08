ALTER TABLE `participants` ADD `earlier_visit_until` integer;
